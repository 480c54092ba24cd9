/** The recipe "Rotate a secret" of docs/kubernetes.md, rehearsed on the emulator: a second secret, a new pod, the old secret deleted. */
import { expect, it, onTestFinished } from 'vitest'
import { Binding } from '../../../src/index.ts'
import { eventually } from '../../support/eventually.ts'
import { fieldsFor } from '../../support/open-world.ts'
import { quickRetries } from '../../support/quick-retries.ts'
import { refusal } from '../../support/refusal.ts'
import { startEmulator } from '../../support/start-emulator.ts'

it('a client takes both of its secrets until the old one is deleted, and no event is lost', async () => {
  const pods: Binding[] = []
  let turn = 0
  const withSecrets = (...clientSecret: string[]) => ({
    clients: [{ clientSecret }],
    ingress({ pathname }: URL) {
      const ports = pods.flatMap((pod) => pod.address()?.port ?? [])
      return `http://127.0.0.1:${ports[turn++ % ports.length] ?? 1}${pathname}`
    },
  })
  const emulator = await startEmulator({ retrySchedule: quickRetries, ...withSecrets('old-secret') })
  const handled = new Set<unknown>()
  async function startPod(clientSecret: string): Promise<Binding> {
    const pod = new Binding({
      endpoints: emulator.endpoints,
      onEvent: ({ cloudEvent }) => void handled.add(cloudEvent.data),
    })
    onTestFinished(() => pod.close())
    pods.push(pod)
    await pod.init({ ...fieldsFor(emulator), clientSecret })
    return pod
  }
  const published: string[] = []
  async function publish(pod: Binding): Promise<void> {
    published.push(`event ${published.length}`)
    await pod.invoke('create', published.at(-1))
  }

  const oldPod = await startPod('old-secret')
  await publish(oldPod)
  emulator.reconfigure(withSecrets('new-secret', 'old-secret'))
  const newPod = await startPod('new-secret')
  // One that starts with the old secret in the midst of it, as on another node, signs in as well.
  const latePod = await startPod('old-secret')
  for (const pod of [oldPod, newPod, latePod, newPod]) await publish(pod)
  await emulator.settled()
  for (const pod of [oldPod, latePod]) {
    pods.splice(pods.indexOf(pod), 1)
    await pod.close()
  }
  emulator.reconfigure(withSecrets('new-secret'))
  await publish(newPod)
  await emulator.settled()
  await eventually(() => expect([...handled].toSorted()).toEqual(published.toSorted()))
  // Who forgot one place that has the secret learns it here.
  expect((await refusal(startPod('old-secret'))).code).toBe('CREDENTIALS_REJECTED')
})
