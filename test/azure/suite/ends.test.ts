/** However a run ends, nothing of it stays: after a signal, after a kill, after refusals. */
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sendArm } from '../../support/azure-clients.ts'
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

const hour = 3_600_000

/** The same, by a clock that is ahead. */
const later = (azure: OpenedAzure, ms: number): OpenedAzure => ({
  ...azure,
  clock: { ...azure.clock, now: () => azure.clock.now() + ms },
})

/** Makes a resource group, and a topic in it. */
async function makeByHand({ emulator }: OpenedAzure, group: string, tags: object, topic: string, topicTags = {}) {
  const id = `/subscriptions/${emulator.subscriptionId}/resourceGroups/${group}`
  const put = async (path: string, body: object) =>
    expect((await sendArm(emulator, path, { method: 'PUT', body: JSON.stringify(body) })).status).toBeLessThan(300)
  await put(id, { location: 'westeurope', tags })
  await put(`${id}/providers/Microsoft.EventGrid/topics/${topic}`, { location: 'westeurope', tags: topicTags })
}

const ownGroup = /^eventgrid-binding-test-azure-[a-z2-9]{8}$/

describe('a run that is killed', () => {
  it('in the middle of making leaves its group, which no other run touches, and --clean a day later deletes', async () => {
    const azure = await openAzure()
    const first = start(azure)
    await first.line(/^ {2}made egb-/)
    first.process.kill('SIGKILL')
    await first.ended
    await eventually(async () => expect((await azure.contents()).length).toBeGreaterThan(1))
    const left = await azure.contents()
    expect(left).toContainEqual(expect.stringMatching(ownGroup))
    const { good, report } = await run(azure, ...few)
    expect({ good, holds: report?.results.length }).toEqual({ good: true, holds: 1 })
    expect(await azure.contents()).toEqual(left)
    expect((await run(later(azure, 23 * hour), '--clean')).lines).toEqual([
      'no resource group of a run is older than 24 hours',
    ])
    expect(await azure.contents()).toEqual(left)
    const cleaned = await run(later(azure, 25 * hour), '--clean')
    expect(cleaned.good).toBe(true)
    for (const name of left.filter((one) => !one.includes('/'))) expect(cleaned.lines.join('\n')).toContain(name)
    expect(await azure.contents()).toEqual([])
  })
})

it('--clean --yes deletes nothing but groups that have the mark and the name of a run, and are older than a day', async () => {
  const azure = await openAzure(plain)
  const mark = 'eventgrid-binding-test-azure'
  const old = { [mark]: new Date(azure.clock.now() - 25 * hour).toISOString() }
  await makeByHand(azure, 'shop', old, 'production-orders', { [mark]: 'x' })
  await makeByHand(azure, `${mark}-abcdefgh`, {}, 'no-mark', old)
  await makeByHand(azure, `${mark}-abcdefgi`, { [mark]: 'abcdefgi' }, 'former-mark')
  await makeByHand(
    azure,
    `${mark}-abcdefgj`,
    { [mark]: new Date(azure.clock.now() - 20 * hour).toISOString() },
    'a-colleague',
  )
  await makeByHand(azure, `${mark}-abcdefgj-copy`, old, 'name-of-its-own')
  await makeByHand(azure, `my-${mark}-abcdefgj`, old, 'another-of-its-own')
  const stays = await azure.contents()
  await makeByHand(azure, `${mark}-abcdefgk`, old, 'left')
  const calls = azure.front.calls.length
  const { good, lines } = await run(azure, '--clean')
  expect(good).toBe(true)
  expect(lines[1]).toBe(`  ${mark}-abcdefgk, of ${old[mark]}: left`)
  expect(await azure.contents()).toEqual(stays)
  const writes = azure.front.calls
    .slice(calls)
    .filter(({ method, url }) => method !== 'GET' && url.startsWith('/subscriptions/'))
  expect(writes.map(({ method, url }) => `${method} ${url.split('?')[0]}`)).toEqual([
    `DELETE /subscriptions/${azure.emulator.subscriptionId}/resourceGroups/${mark}-abcdefgk`,
  ])
})

describe('a group that was given', () => {
  const given = ['--resource-group', 'shop']
  const groupPath = ({ emulator }: OpenedAzure) => `/subscriptions/${emulator.subscriptionId}/resourceGroups/shop`

  it('is refused where it is not empty, and nothing is written', async () => {
    const azure = await openAzure(plain)
    await makeByHand(azure, 'shop', {}, 'production-orders')
    const says = /resource group shop is not empty \(production-orders\): name an empty one, or none/
    await expect(run(azure, ...few, ...given)).rejects.toThrow(says)
    expectNothing(azure)
  })

  it('stays as it was, with what appeared in it meanwhile; all that the run made is gone', async () => {
    const azure = await openAzure(plain)
    const path = groupPath(azure)
    const body = JSON.stringify({ location: 'westeurope', tags: { of: 'the shop' } })
    await sendArm(azure.emulator, path, { method: 'PUT', body })
    const running = run(azure, '--only', '^(topic-name|topic-key-lengths|publish-success|path-)', ...given)
    await eventually(async () => expect((await azure.contents()).length).toBeGreaterThan(2))
    const topic = `${path}/providers/Microsoft.EventGrid/topics/production-orders`
    await sendArm(azure.emulator, topic, { method: 'PUT', body })
    expect((await running).good).toBe(true)
    expect(await azure.contents()).toEqual(['production-orders', 'shop'])
    expect((await sendArm(azure.emulator, path)).body).toMatchObject({ tags: { of: 'the shop' } })
    const deleted = azure.front.calls.filter(({ method }) => method === 'DELETE').map(({ url }) => url.split('?')[0])
    expect(deleted).not.toContain(path)
  })

  it('has its name in no record', async () => {
    const azure = await openAzure(plain)
    const body = JSON.stringify({ location: 'westeurope' })
    await sendArm(azure.emulator, groupPath(azure), { method: 'PUT', body })
    const records = join(azure.folder, 'records')
    await run(azure, '--only', '^(path-|topic-|domain-|refusal|error-)', ...given, '--record', records)
    const files = globSync('*.json', { cwd: records })
    expect(files.length).toBeGreaterThan(10)
    const shown = files.filter((file) => /shop/i.test(readFileSync(join(records, file), 'utf8')))
    expect(shown).toEqual([])
  })

  it('is what an account without the right to make one is told to name', async () => {
    const roles = [{ role: 'EventGrid Contributor' }]
    const azure = await openAzure({ ...plain, emulator: { clients: [{ roles }] } })
    await expect(run(azure, ...few)).rejects.toThrow(
      /resourceGroups\/write.* or name an empty group by --resource-group/,
    )
    expectNothing(azure)
  })
})

it('a run that Ctrl-C ends deletes what it made, and reports what it did not ask', async () => {
  const azure = await openAzure(plain)
  const command = start(azure, '--only', '^(pull-wait|publish-success)')
  await command.line(/holds publish-success/)
  command.process.kill('SIGINT')
  expect(await command.ended).toBe(130)
  expect(await azure.contents()).toEqual([])
  expect(JSON.parse(readFileSync(join(azure.folder, 'azure-report.json'), 'utf8'))).toMatchObject({
    whole: false,
    results: expect.arrayContaining([expect.objectContaining({ fact: 'pull-wait', outcome: 'skipped' })]),
  })
})

it('a run with --keep leaves all in its group, which --clean deletes a day later', async () => {
  const azure = await openAzure(plain)
  const { good, lines } = await run(azure, ...few, '--keep')
  expect(good).toBe(true)
  expect((await azure.contents()).length).toBeGreaterThan(1)
  expect(lines.join('\n')).toMatch(/Kept \(--keep\): eventgrid-binding-test-azure-\w{8}: egb-cloud-/)
  expect(await run(later(azure, 25 * hour), '--clean')).toMatchObject({ good: true })
  expect(await azure.contents()).toEqual([])
})

it('a run whose group another one has marked leaves that group, and says so', async () => {
  const azure = await openAzure(plain)
  const running = run(azure, '--only', '^(pull-wait|publish-success)')
  await eventually(async () => expect((await azure.contents()).length).toBeGreaterThan(2))
  const name = (await azure.contents()).find((one) => ownGroup.test(one)) ?? ''
  const path = `/subscriptions/${azure.emulator.subscriptionId}/resourceGroups/${name}`
  await sendArm(azure.emulator, path, { method: 'PATCH', body: JSON.stringify({ tags: { of: 'somebody' } }) })
  const { good, report } = await running
  expect(good).toBe(false)
  expect(report?.notDeleted).toEqual([{ id: path, why: 'it does not have the mark of its run any more' }])
  expect(await azure.contents()).toContain(name)
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
    expect(await azure.contents()).toEqual([])
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
    expect(await azure.contents()).toEqual([])
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
    expect(await azure.contents()).toEqual([])
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
    await expect(run(azure, ...few, '--resource-group', 'rg')).rejects.toThrow(
      /do not allow Microsoft.EventGrid\/topics\/write, .*Contributor/,
    )
  })

  it('it asks, and makes nothing after a no; without a terminal it wants --yes', async () => {
    const azure = await openAzure(plain)
    const args = azure.args.filter((one) => one !== '--yes')
    const command = start({ ...azure, args }, ...few)
    expect(await command.ended).toBe(2)
    expect(command.lines.join('\n')).toMatch(
      /egb-cloud-\w+.*Costs, at most \d+ euro cents.*nobody can be asked here: --yes/s,
    )
    expect(await azure.contents()).toEqual([])
  })
})

it('an emulator alone has no storage accounts: their probes are skipped by name, and the rest holds', async () => {
  const azure = await openAzure(plain)
  const ofEmulator = ['--emulator', azure.emulator.endpoints.resourceManager, '--report', join(azure.folder, 'r.json')]
  const args = ['--yes', ...ofEmulator]
  const only = '^(filter-types|publish-success)'
  const { good, report } = await run({ ...azure, args }, '--only', only)
  expect(report?.results).toMatchObject([
    { fact: 'filter-types', outcome: 'skipped', reason: expect.stringContaining('NotSupportedByEmulator') },
    { fact: 'publish-success', outcome: 'holds' },
  ])
  expect(good).toBe(true)
})
