/**
 * Outages as an operator lives through them: real processes, a real Prometheus, and the rules of docs/observability as they are shipped.
 * Each outage pages within three minutes and is over within three minutes of the mend; a fleet that restarts pod by pod pages nothing.
 */
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { startCommand } from '../support/command.ts'
import { componentFile, emulatorVariables, makeComponentFolder } from '../support/component-folder.ts'
import { openDaprApp } from '../support/dapr-app.ts'
import { freePort } from '../support/free-port.ts'
import { startEmulator } from '../support/start-emulator.ts'
import { obtainPrometheus } from './prometheus-program.ts'
import { startPrometheus } from './prometheus-server.ts'

const program = await obtainPrometheus()
const rules = readFileSync(new URL('../../docs/observability/alerts.yaml', import.meta.url), 'utf8')

/** Three minutes, and a quarter of one for a busy machine. */
const limitMs = 195_000
const eventEveryMs = 500
const fleetSize = 3
/** Three at one address within 15 minutes are EventGridRestarts. */
const rollingRestarts = 2

const outages = [
  { name: 'gone', alert: 'EventGridComponentGone' },
  { name: 'mistyped', alert: 'EventGridDeliveriesNotTaken' },
  { name: 'roleless', alert: 'EventGridNoSubscription' },
  { name: 'hanging', alert: 'EventGridNothingHandled' },
] as const

/** An emulator with a topic for each component, of which `roleless` has a client of its own. */
async function openWorld() {
  const secret = 'a-secret-of-the-client-without-a-role'
  const names = [...outages.map(({ name }) => name), 'fleet']
  const emulator = await startEmulator({
    topics: names.map((name) => ({ name })),
    clients: [{ clientId: 'with-roles' }, { clientId: 'roleless', clientSecret: secret, roles: [] }],
    deadLetterDelay: 0,
  })
  const ready = new Map<string, Map<number, number>>()
  let turn = 0
  // The balancer: whatever replica was ready when it was asked last.
  emulator.setIngress(({ hostname, pathname }) => {
    const [name = ''] = hostname.split('.')
    const routed = [...(ready.get(name)?.values() ?? [])]
    return routed.length === 0 ? undefined : `http://127.0.0.1:${routed[turn++ % routed.length]}${pathname}`
  })

  /** Starts a process of a component on an address of its own. */
  async function start(name: string, metricsPort: number, appPort: number, clientSecret?: string) {
    const folder = makeComponentFolder()
    const topic = emulator.topic(name)
    const isRoleless = name === 'roleless'
    const { tenantId, subscriptionId } = emulator
    const fields = {
      ...{ tenantId, subscriptionId, clientId: isRoleless ? 'roleless' : 'with-roles' },
      clientSecret: clientSecret ?? (isRoleless ? secret : emulator.clientSecret),
      ...{ scope: topic.id, subscriberEndpoint: `https://${name}.example.com/api/events` },
      handshakePort: String(await freePort()),
    }
    folder.write('component.yaml', componentFile(name, fields))
    const options = ['--http-port', '0', '--app-port', String(appPort), '--metrics-port', String(metricsPort)]
    const command = startCommand(
      ['run', '--components', folder.path, ...options],
      emulatorVariables(emulator, folder.path),
    )
    await command.line(/ ready: /)
    const routed = ready.get(name) ?? new Map<number, number>()
    ready.set(name, routed)
    const probe = async () => {
      const isReady = await fetch(`http://127.0.0.1:${metricsPort}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
      if (isReady) routed.set(metricsPort, Number(fields.handshakePort))
      else routed.delete(metricsPort)
    }
    const probing = setInterval(probe, 250)
    onTestFinished(() => clearInterval(probing))
    return {
      isReady: () => expect.poll(() => routed.has(metricsPort), { timeout: 60_000 }).toBe(true),
      /** As Kubernetes ends a pod: it is taken out first. */
      async end(signal: 'SIGTERM' | 'SIGKILL') {
        clearInterval(probing)
        routed.delete(metricsPort)
        command.process.kill(signal)
        await command.ended
      },
    }
  }
  const load = setInterval(() => {
    for (const name of names) {
      emulator.raise(emulator.topic(name).id, [
        { specversion: '1.0', source: '/load', type: 'load', id: crypto.randomUUID() },
      ])
    }
  }, eventEveryMs)
  onTestFinished(() => clearInterval(load))
  return { emulator, start }
}

test.skipIf(program === undefined)(
  'the outages page, their mend ends that, and a rolling restart pages nobody',
  { timeout: 900_000 },
  async () => {
    const { emulator, start } = await openWorld()
    const { port: appPort } = await openDaprApp()
    const hanging = await openDaprApp()
    const ports = Object.fromEntries(
      await Promise.all(
        [...outages.map(({ name }) => name), 'one', 'two', 'three'].map(
          async (name) => [name, await freePort()] as const,
        ),
      ),
    )
    const portOf = (name: string) => ports[name] ?? 0
    const targets = Object.values(ports).map((port) => `127.0.0.1:${port}`)
    const prometheus = await startPrometheus(program ?? '', { targets, ruleText: rules, intervalMs: 5_000 })

    const gone = await start('gone', portOf('gone'), appPort)
    const typed = await start('mistyped', portOf('mistyped'), appPort)
    await start('hanging', portOf('hanging'), hanging.port)
    const replicas = ['one', 'two', 'three'].slice(0, fleetSize)
    const fleet = new Map<string, Awaited<ReturnType<typeof start>>>()
    for (const name of replicas) fleet.set(name, await start('fleet', portOf(name), appPort))
    await Promise.all([gone, typed, ...fleet.values()].map((one) => one.isReady()))
    const handled = 'sum by (component) (eventgrid_binding_events_total{result="acknowledged"}) > 5'
    await expect.poll(async () => (await prometheus.query(handled)).length, { timeout: 60_000 }).toBe(4)
    expect(await prometheus.firing()).toEqual([])

    const fired = new Set<string>()
    const pages = async () => {
      const firing = await prometheus.firing()
      for (const one of firing) fired.add(one)
      return firing
    }
    /** Seconds until each is so, from now. */
    async function secondsUntil(isSo: (firing: readonly string[], alert: string) => boolean) {
      const began = performance.now()
      const seconds = new Map<string, number>()
      const all = outages.map(({ name, alert }) => `${alert} ${name}`)
      const look = async () => {
        const firing = await pages()
        for (const alert of all)
          if (!seconds.has(alert) && isSo(firing, alert))
            seconds.set(alert, Math.round((performance.now() - began) / 1_000))
        return all.filter((alert) => !seconds.has(alert))
      }
      await expect.poll(look, { timeout: limitMs, interval: 500 }).toEqual([])
      return Object.fromEntries(seconds)
    }

    const rolled = (async () => {
      for (let round = 0; round < rollingRestarts; round++) {
        for (const name of replicas) {
          await fleet.get(name)?.end('SIGTERM')
          const next = await start('fleet', portOf(name), appPort)
          await next.isReady()
          fleet.set(name, next)
        }
      }
    })()

    await gone.end('SIGKILL')
    await typed.end('SIGTERM')
    const mistyped = await start('mistyped', portOf('mistyped'), appPort, 'mistyped')
    await start('roleless', portOf('roleless'), appPort)
    hanging.answerWith(() => 'hang')
    console.log('fires after seconds', await secondsUntil((firing, alert) => firing.includes(alert)))
    await rolled

    await start('gone', portOf('gone'), appPort)
    await mistyped.end('SIGTERM')
    await start('mistyped', portOf('mistyped'), appPort)
    emulator.assignRole('roleless', 'EventGrid EventSubscription Contributor')
    hanging.answerWith(() => 200)
    console.log('is over after seconds', await secondsUntil((firing, alert) => !firing.includes(alert)))
    expect([...fired].filter((alert) => alert.endsWith(' fleet'))).toEqual([])
  },
)
