/** However a run ends, nothing of it stays: after a signal, after a kill, after refusals. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startProcess } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { type OpenedAzure, openAzure, run } from './open-azure.ts'

const main = resolve(import.meta.dirname, '../main.ts')
const few = ['--only', '^publish-success']
/** No handshake and no queue is part of these runs. */
const plain = { speed: 20, storage: false }

/** The command as a process of its own. */
const start = ({ args, env }: OpenedAzure, ...more: readonly string[]) =>
  startProcess(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...args, ...more], env)

const puts = (part: string) => (request: { readonly method: string; readonly url: string }) =>
  request.method === 'PUT' && request.url.includes(part)

/** That nothing was begun. */
const expectNothing = ({ front }: OpenedAzure) =>
  expect(front.calls.filter(({ method }) => method === 'PUT')).toEqual([])

describe('a run that is killed', () => {
  it('in the middle of making leaves what the next run deletes before it begins', async () => {
    const azure = await openAzure()
    const first = start(azure)
    await first.line(/^ {2}made egb-/)
    first.process.kill('SIGKILL')
    await first.ended
    await eventually(() => expect(azure.contents().length).toBeGreaterThan(0))
    const left = azure.contents()
    const { good, lines } = await run(azure, ...few)
    expect(good).toBe(true)
    expect(lines).toEqual(expect.arrayContaining(left.filter((name) => !name.includes('/')).map((name) => `  ${name}`)))
    expect(azure.contents()).toEqual([])
  })

  it('leaves what --clean deletes', async () => {
    const azure = await openAzure()
    const first = start(azure, '--only', '^pull-wait')
    await first.line(/^Asking:/)
    first.process.kill('SIGKILL')
    await first.ended
    expect(azure.contents().length).toBeGreaterThan(0)
    const cleaning = start(azure, '--clean')
    await cleaning.line(/^all of it is deleted$/)
    expect(await cleaning.ended).toBe(0)
    expect(azure.contents()).toEqual([])
    expect(await start(azure, '--clean').ended).toBe(0)
  })
})

it('a run that Ctrl-C ends deletes what it made, and reports what it did not ask', async () => {
  const azure = await openAzure(plain)
  const command = start(azure, '--only', '^(pull-wait|publish-success)')
  await command.line(/holds publish-success/)
  command.process.kill('SIGINT')
  expect(await command.ended).toBe(130)
  expect(azure.contents()).toEqual([])
  expect(JSON.parse(readFileSync(join(azure.folder, 'azure-report.json'), 'utf8'))).toMatchObject({
    whole: false,
    results: expect.arrayContaining([expect.objectContaining({ fact: 'pull-wait', outcome: 'skipped' })]),
  })
})

it('a run with --keep leaves all, and the next one deletes it', async () => {
  const azure = await openAzure(plain)
  expect(await run(azure, ...few, '--keep')).toMatchObject({ good: true })
  expect(azure.contents().length).toBeGreaterThan(0)
  expect(await run(azure, ...few)).toMatchObject({ good: true })
  expect(azure.contents()).toEqual([])
})

describe('Resource Manager', () => {
  it('that refuses a topic ends the run, which says so and deletes the rest', async () => {
    const azure = await openAzure(plain)
    azure.emulator.failNext({ route: 'arm', status: 403, matches: puts('/topics/egb-grid') })
    const { good, report, lines } = await run(azure, ...few)
    expect(good).toBe(false)
    const why = expect.stringContaining('403, AuthorizationFailed')
    expect(report).toMatchObject({ whole: false, notMade: [{ why }] })
    expect(lines.join('\n')).toMatch(/not made +the run: egb-grid-\w+: 403/)
    expect(azure.contents()).toEqual([])
  })

  it('that refuses the namespace has its probes skipped by name, with the reason', async () => {
    const azure = await openAzure(plain)
    const matches = puts('/namespaces/egb-space')
    azure.emulator.failNext({ route: 'arm', status: 409, code: 'QuotaReached', matches })
    const { good, report } = await run(azure, '--only', '^(pull-wait|publish-success)')
    expect(good).toBe(false)
    const reason = expect.stringMatching(/the namespace could not be made: .*QuotaReached/)
    expect(report?.results).toContainEqual(expect.objectContaining({ fact: 'publish-success', outcome: 'holds' }))
    expect(report?.results).toContainEqual(expect.objectContaining({ outcome: 'skipped', reason }))
    expect(azure.contents()).toEqual([])
  })

  it('that answers 429 with Retry-After is asked again when that is over', async () => {
    const azure = await openAzure(plain)
    const times: number[] = []
    const matches = (request: { readonly method: string; readonly url: string }) => {
      const isIt = puts('/topics/egb-cloud')(request)
      if (isIt) times.push(azure.clock.now())
      return isIt
    }
    azure.emulator.failNext({ route: 'arm', status: 429, retryAfter: 30, times: 3, matches })
    expect(await run(azure, ...few)).toMatchObject({ good: true })
    const pauses = times.slice(1).map((time, at) => time - (times[at] ?? 0))
    // One question more is the fault that is no longer there.
    expect(pauses.slice(0, 3).every((pause) => pause >= 29_000)).toBe(true)
    expect(pauses.length).toBeGreaterThanOrEqual(2)
  })

  it('whose operations take minutes is waited for', async () => {
    const azure = await openAzure({ ...plain, speed: 100, emulator: { operationDelayMs: 5 * 60_000 } })
    expect(await run(azure, ...few)).toMatchObject({ good: true })
    expect(azure.contents()).toEqual([])
  })

  it('whose operations do not end is not waited for without end', async () => {
    const azure = await openAzure({ ...plain, speed: 500, emulator: { operationDelayMs: 30 * 60_000 } })
    const { good, report } = await run(azure, ...few)
    expect(good).toBe(false)
    expect(report?.notMade).toMatchObject([{ why: expect.stringContaining('it ended as unended') }])
    expect(report?.notDeleted.length).toBeGreaterThan(0)
  })
})

describe('before anything is made', () => {
  it.each([
    { name: 'no account', change: { AZURE_CLIENT_SECRET: 'wrong' }, says: /there is no account/ },
    { name: 'a group that is not there', args: ['--resource-group', 'none'], says: /group .* can't be read: 404/ },
    { name: 'a pattern that fits nothing', args: ['--only', 'nothing like it'], says: /fits none of the \d+ probes/ },
  ])('it ends with 2 for $name', async ({ change = {}, args = [], says }) => {
    const azure = await openAzure(plain)
    const command = start({ ...azure, env: { ...azure.env, ...change } }, ...args)
    expect(await command.ended).toBe(2)
    expect(command.lines.join('\n')).toMatch(says)
    expectNothing(azure)
  })

  it('it ends with 2 where the provider is not registered', async () => {
    const azure = await openAzure(plain)
    azure.emulator.unregisterProvider()
    await expect(run(azure, ...few)).rejects.toThrow(/az provider register --namespace Microsoft.EventGrid/)
    expectNothing(azure)
  })

  it('it ends with 2 where the account may not make what it needs', async () => {
    const azure = await openAzure({ ...plain, emulator: { clients: [{ roles: [{ role: 'Reader' }] }] } })
    await expect(run(azure, ...few)).rejects.toThrow(/do not allow Microsoft.EventGrid\/topics\/write, .*Contributor/)
  })

  it('it asks, and makes nothing after a no; without a terminal it wants --yes', async () => {
    const azure = await openAzure(plain)
    const args = azure.args.filter((one) => one !== '--yes')
    const command = start({ ...azure, args }, ...few)
    expect(await command.ended).toBe(2)
    expect(command.lines.join('\n')).toMatch(
      /egb-cloud-\w+.*Costs, at most \d+ euro cents.*nobody can be asked here: --yes/s,
    )
    expect(azure.contents()).toEqual([])
  })
})

it('an emulator alone has no storage accounts: their probes are skipped by name, and the rest holds', async () => {
  const azure = await openAzure(plain)
  const ofEmulator = ['--emulator', azure.emulator.endpoints.resourceManager, '--report', join(azure.folder, 'r.json')]
  const args = ['--resource-group', 'rg', '--yes', ...ofEmulator]
  const only = '^(filter-types|publish-success)'
  const { good, report } = await run({ ...azure, args }, '--only', only)
  expect(report?.results).toMatchObject([
    { fact: 'filter-types', outcome: 'skipped', reason: expect.stringContaining('NotSupportedByEmulator') },
    { fact: 'publish-success', outcome: 'holds' },
  ])
  expect(good).toBe(true)
})
