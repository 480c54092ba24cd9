import { createSimulatedArm } from './arm.ts'
import { startEventGrid } from './event-grid.ts'
import { createFigures, type Figures } from './figures.ts'
import { createDeployment, type Deployment } from './kubernetes.ts'
import { createRandom } from './random.ts'
import type { Version } from './replica.ts'
import type { Scenario } from './scenarios.ts'
import { createSimulatedTime } from './time.ts'

export interface SimulationOptions {
  readonly seed: number
  readonly replicas: number
  /** What the metadata field `expectedReplicas` says. @default replicas */
  readonly expectedReplicas?: number
  readonly minutes: number
  /** Events in a second that are looked at. */
  readonly sampledPerSecond: number
}

const minuteMs = 60_000

/** Runs one scenario. The same options give the same figures. */
export async function simulate(scenario: Scenario, options: SimulationOptions): Promise<Figures> {
  const { seed, replicas, expectedReplicas = replicas, minutes, sampledPerSecond } = options
  const time = createSimulatedTime()
  const random = createRandom(seed)
  const figures = createFigures(time.now)
  const deployments = new Map<string, Deployment>()
  const deploymentAt = (endpointUrl: string) => deployments.get(endpointUrl)
  const arm = createSimulatedArm({
    ...{ time, random, figures },
    answersHandshake: (endpointUrl) => deploymentAt(endpointUrl)?.choose() !== undefined,
  })
  const version = (changes: Partial<Version> = {}): Version => ({
    endpointUrl: 'https://orders.example.com/api/events',
    secrets: ['old'],
    expectedReplicas,
    ...changes,
  })
  const open = (first: Version) => {
    const deployment = createDeployment(first, { time, random, figures, arm })
    deployments.set(first.endpointUrl, deployment)
    return deployment
  }
  const orders = open(version())
  orders.scale(replicas * (scenario.share ?? 1))
  scenario.script({
    ...{ replicas, arm, random, orders, version },
    openOther: open,
    at: (minute, run) => time.after(minute * minuteMs, run),
  })
  startEventGrid({ time, random, figures, arm, deploymentAt, sampledPerSecond })
  await time.runUntil(minutes * minuteMs)
  for (const deployment of deployments.values()) for (const { replica } of deployment.pods) replica.close()
  return figures
}

/** How a scenario ended, beside what it is held to. */
export interface Outcome {
  readonly figures: Figures
  readonly reads: number
  readonly secretReads: number
  readonly writes: number
  readonly refusedWrites: number
  readonly throttled: number
  readonly handshakes: number
  readonly foreign: number
  readonly failed: number
  readonly oldestSeconds: number
  readonly lost: number
  /** Each limit that was passed, as a sentence. */
  readonly faults: readonly string[]
}

/** Compares the figures with the limits (pure). */
export function judgeScenario({ begins, reach }: Scenario, figures: Figures): Outcome {
  const from = begins * minuteMs
  const total = (what: Parameters<Figures['total']>[0]) => figures.total(what, from)
  const oldestSeconds = Math.round(figures.oldestMs(from) / 1_000)
  const counted = {
    ...{ reads: total('reads'), secretReads: total('secretReads'), writes: total('writes') },
    ...{ refusedWrites: total('refusedWrites'), throttled: total('throttled'), handshakes: total('handshakes') },
    ...{ foreign: total('foreign'), failed: total('failed'), lost: figures.lost },
  }
  const beyond = (what: string, found: number, most: number | undefined) =>
    most !== undefined && found > most ? [`${what}: ${found}, at most ${most}`] : []
  const { warns } = reach
  const faults = [
    ...beyond('writes', counted.writes, reach.writes),
    ...beyond('calls that ARM throttled', counted.throttled, reach.throttled),
    ...beyond('deliveries with an unknown credential', counted.foreign, reach.foreign),
    ...beyond('seconds that the oldest event waited', oldestSeconds, reach.oldestSeconds),
    ...beyond('lost events', counted.lost, 0),
    ...(warns && ![...figures.warnings.keys()].some((text) => warns.test(text)) ? [`no warning like ${warns}`] : []),
  ]
  return { figures, ...counted, oldestSeconds, faults }
}
