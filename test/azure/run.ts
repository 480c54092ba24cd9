/** In which order a run goes: it looks ahead, says what it makes and costs, makes it, asks the probes and the product, reports, and deletes. */
import { writeFileSync } from 'node:fs'
import { UsageError } from '../../src/support/command-line/options.ts'
import { messageOf } from '../../src/support/process/error-code.ts'
import { readFacts } from './facts/facts-table.ts'
import { deleteAll, deleteGroup } from './make/clean.ts'
import { makeAll, makeGroup } from './make/make-all.ts'
import { nameOf, namesOf, type Place, randomSuffix } from './plan/names.ts'
import type { RunOptions } from './plan/options.ts'
import { contentsOf, findLeftGroups, lookAhead, type Preflight, requireAccount } from './plan/preflight.ts'
import { priceLines } from './plan/prices.ts'
import { allProbes } from './probes/all-probes.ts'
import type { Need, Probe } from './probes/probe.ts'
import { createProbeWorld } from './probes/probe-world.ts'
import { runProbes } from './probes/run-probes.ts'
import { productProbes } from './product/product-probes.ts'
import { openListener, type PushListener, tunnelLines } from './push/listener.ts'
import { recordedExchanges, writeRecording } from './record/recording.ts'
import { createScrubber, type Scrubber } from './record/scrubber.ts'
import { isGood, type Report, reportLines } from './report/report.ts'
import { type Arm, createArm } from './wire/arm.ts'
import type { Target } from './wire/target.ts'
import { createSend, type Exchange } from './wire/wire.ts'
import type { WireClock } from './wire/wire-clock.ts'

export interface Surroundings {
  readonly target: Target
  readonly clock: WireClock
  /** Ends probes and making. Cleaning goes on. */
  readonly signal: AbortSignal
  readonly say: (line: string) => void
  /** Asks whether to go on. */
  readonly confirm: (question: string) => Promise<boolean>
  /** What commands of the product get as environment. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** What became of a run: its report, unless it was ended before anything was made. */
export interface RunEnd {
  readonly report: Report | undefined
  readonly good: boolean
}

export async function runAzure(options: RunOptions, surroundings: Surroundings): Promise<RunEnd> {
  const { target, clock, signal, say, confirm } = surroundings
  const { subscriptionId, resourceGroup, location, keep, yes } = options
  const place = { subscriptionId, resourceGroup, location, suffix: randomSuffix() }
  const names = namesOf(place)
  const { endpoints } = target
  const send = createSend({ endpoints, signal })
  // Of its own: a signal that ends the probes must not end the cleaning.
  const never = new AbortController().signal
  const cleaner = createArm(target, createSend({ endpoints, signal: never }), { clock, signal: never })
  const arm = createArm(target, send, { clock, signal })
  await requireAccount(target, signal)
  if (options.clean) return cleanUp(options, surroundings, { arm, cleaner })
  const preflight = await lookAhead({ arm, target }, place, names)
  const chosen = chosenProbes(options)
  const listener = await openPush(options, surroundings)
  try {
    const where = resourceGroup === undefined ? 'a resource group of its own' : 'the resource group'
    say(`In ${where}, ${nameOf(names.group)}: ${madeWords(names)}.`)
    for (const line of priceLines()) say(line)
    const ending = resourceGroup === undefined ? 'the group is deleted' : 'what was made is deleted'
    say(
      `Then ${chosen.length} questions are asked. ${keep ? 'Nothing is deleted at the end (--keep).' : `At the end ${ending}.`}`,
    )
    if (!(yes || (await confirm('Go on?')))) return { report: undefined, good: true }
    return await goOn({ options, surroundings, place, names, arm, send, cleaner, preflight, listener, chosen })
  } finally {
    await listener?.close()
  }
}

/** Shows the resource groups that earlier runs have made and left, asks, and deletes them. */
async function cleanUp(
  { subscriptionId, yes }: RunOptions,
  { clock, say, confirm }: Surroundings,
  { arm, cleaner }: { readonly arm: Arm; readonly cleaner: Arm },
): Promise<RunEnd> {
  const groups = await findLeftGroups(arm, subscriptionId, clock.now())
  if (groups.length === 0) {
    say('no resource group of a run is older than 24 hours')
    return { report: undefined, good: true }
  }
  say('These resource groups were made by runs more than 24 hours ago:')
  for (const { id, name, begun } of groups) {
    say(`  ${name}, of ${begun}: ${(await contentsOf(arm, id)).join(', ') || 'empty'}`)
  }
  if (!(yes || (await confirm('Delete these, with all that is in them?')))) return { report: undefined, good: true }
  const left = (await Promise.all(groups.map((group) => deleteGroup(cleaner, group, say)))).flat()
  for (const { id, why } of left) say(`NOT DELETED ${nameOf(id)}: ${why}`)
  say(left.length === 0 ? 'all of it is deleted' : `${left.length} could not be deleted`)
  return { report: undefined, good: left.length === 0 }
}

interface Going {
  readonly options: RunOptions
  readonly surroundings: Surroundings
  readonly place: Place
  readonly names: ReturnType<typeof namesOf>
  readonly arm: ReturnType<typeof createArm>
  readonly send: ReturnType<typeof createSend>
  readonly cleaner: ReturnType<typeof createArm>
  readonly preflight: Preflight
  readonly listener: PushListener | undefined
  readonly chosen: readonly Probe[]
}

async function goOn(going: Going): Promise<RunEnd> {
  const { options, surroundings, place, names, arm, send, cleaner, listener, chosen } = going
  const { target, clock, signal, say } = surroundings
  const { application, record, keep } = options
  const date = new Date(clock.now()).toISOString()
  const scrubber = scrubberOf(going)
  const learn = scrubber.learn
  const isOwnGroup = place.resourceGroup === undefined
  let report: Report = {
    ...{ version: 1, place: target.name, date, location: place.location, push: listener !== undefined },
    ...{ results: [], notMade: [], notDeleted: [], whole: false },
  }
  // All ids of the plan from the start: what was made by a request whose answer never came is deleted too.
  const { group, eventGrid: _eventGrid, ...made } = names
  const toDelete = new Set<string>(Object.values(made))
  const owns = (id: string) => void toDelete.add(id)
  try {
    say('Making:')
    if (isOwnGroup) await makeGroup(arm, { group, location: place.location, begun: date, say })
    const needs = new Set(chosen.flatMap((one) => one.needs ?? []))
    const unmet = unmetNeeds(going)
    const making = await makeAll({ arm, place, names, clock, needs, unmet, say, learn, owns })
    report = { ...report, notMade: making.failures }
    say('Asking:')
    const facts = new Map(readFacts().map((fact) => [fact.id, fact]))
    const results = await runProbes({
      ...{ probes: chosen, facts, made: making.made, signal, now: () => clock.now() },
      open(one, number) {
        const exchanges: Exchange[] = []
        const own: string[] = []
        const closing: (() => void)[] = []
        const world = createProbeWorld({
          ...{ target, made: making.made, send, clock, signal, number, listener, application, learn },
          saw: (exchange) => void exchanges.push(exchange),
          env: surroundings.env,
          owns(id) {
            own.push(id)
            owns(id)
          },
          after: (work) => void closing.push(work),
        })
        return {
          world,
          async close() {
            for (const work of closing) work()
            // What the product asks by itself is not seen here.
            if (record !== undefined && exchanges.length > 0) {
              const { fact, asks } = one
              const recorded = recordedExchanges(exchanges, scrubber)
              writeRecording(record, { fact, asks, seenAt: target.name, date: date.slice(0, 10), exchanges: recorded })
            }
            if (keep) return
            await deleteAll(cleaner, own, say)
          },
        }
      },
      tell: ({ outcome, fact, asks, seconds }, done) =>
        say(`  ${done}/${chosen.length} ${outcome} ${fact}: ${asks} (${seconds} s)`),
    })
    report = { ...report, results, whole: !signal.aborted }
  } catch (error) {
    if (!signal.aborted)
      report = { ...report, notMade: [{ what: 'the run', why: messageOf(error), unsupported: false }] }
  } finally {
    if (keep) say(`Kept (--keep): ${nameOf(group)}: ${madeWords(names)}`)
    else {
      say(isOwnGroup ? `Deleting ${nameOf(group)}:` : 'Deleting what was made:')
      const notDeleted = isOwnGroup
        ? await deleteGroup(cleaner, { id: group, begun: date }, say).catch((error: unknown) => [
            { id: group, why: messageOf(error) },
          ])
        : await deleteAll(cleaner, [...toDelete], say)
      report = { ...report, notDeleted }
    }
    writeFileSync(options.report, `${JSON.stringify(report, null, 2)}\n`)
  }
  for (const line of reportLines(report)) say(line)
  say(`Report: ${options.report}`)
  return { report, good: isGood(report) }
}

/** The probes that --only lets through. Throws a UsageError where it lets none. */
function chosenProbes({ only }: RunOptions): readonly Probe[] {
  const all = [...productProbes, ...allProbes]
  const chosen = only ? all.filter(({ fact, asks }) => only.test(`${fact}: ${asks}`)) : all
  if (chosen.length === 0) throw new UsageError(`--only ${String(only)} fits none of the ${all.length} probes`)
  return chosen
}

const madeWords = ({ cloudTopic, gridTopic, domain, namespace, storage }: ReturnType<typeof namesOf>) =>
  [cloudTopic, gridTopic, domain, namespace, storage].map(nameOf).join(', ')

/** Listens where a tunnel leads. Throws a UsageError where the public URL does not lead here. */
async function openPush(
  options: RunOptions,
  { target, clock, say, signal }: Surroundings,
): Promise<PushListener | undefined> {
  const { publicUrl, port } = options
  if (publicUrl === undefined) return undefined
  const listener = await openListener({ port, publicUrl, clock })
  say(`Listening on 127.0.0.1:${listener.port}, to which ${publicUrl} has to lead.`)
  // An emulator leads its public URLs itself: nobody else can ask there.
  if (target.name === 'emulator') return listener
  const { path, body } = listener.mark
  const request = { asked: 'storage', method: 'GET', url: `${publicUrl}${path}`, limitMs: 20_000 } as const
  const send = createSend({ endpoints: {}, signal })
  const why = await send(request).then(
    (answer) => (answer.body === body ? undefined : `it answers ${answer.status}`),
    messageOf,
  )
  if (why === undefined) return listener
  await listener.close()
  throw new UsageError([`${publicUrl} does not lead to this tool: ${why}`, ...tunnelLines(port)].join('\n'))
}

function unmetNeeds({ options, listener, preflight, surroundings }: Going): ReadonlyMap<Need, string> {
  const unmet = new Map<Need, string>()
  if (!listener) unmet.set('push', '--public-url was not given')
  if (options.application === undefined) unmet.set('application', '--application was not given')
  if (!preflight.mayAssignRoles)
    unmet.set('namespace dead letters', 'the account may not assign roles (Owner and User Access Administrator may)')
  if (surroundings.target.name === 'emulator')
    unmet.set('own region in the host', 'an emulator has no region in its host names')
  return unmet
}

function scrubberOf({ options, surroundings, place, names }: Going): Scrubber {
  const { resourceManager } = surroundings.target
  const origins = new Map([[resourceManager, '{arm}']])
  if (options.publicUrl !== undefined) origins.set(options.publicUrl, '{public}')
  const scrubber = createScrubber({ ...place, resourceGroup: nameOf(names.group), origins })
  const { AZURE_CLIENT_SECRET, AZURE_TENANT_ID, AZURE_CLIENT_ID, AZURE_PASSWORD } = surroundings.env
  for (const one of [AZURE_CLIENT_SECRET, AZURE_PASSWORD, AZURE_TENANT_ID, AZURE_CLIENT_ID])
    if (one) scrubber.learn(one)
  if (options.application !== undefined) scrubber.learn(options.application)
  return scrubber
}
