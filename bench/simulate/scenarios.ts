import type { SimulatedArm } from './arm.ts'
import type { Deployment } from './kubernetes.ts'
import type { Random } from './random.ts'
import type { Version } from './replica.ts'

/** What a scenario may do to the world. */
export interface World {
  /** All replicas together. */
  readonly replicas: number
  readonly arm: SimulatedArm
  readonly random: Random
  readonly orders: Deployment
  /** Another deployment, behind a URL of its own. */
  openOther(version: Version): Deployment
  /** A version of the deployment, with what it changes. */
  version(changes?: Partial<Version>): Version
  /** Does something in the given minute of the simulation. */
  at(minute: number, run: () => void): void
}

/** Limits that a scenario is held to. They count from the minute in which it begins. */
export interface Reach {
  readonly writes: number
  readonly throttled: number
  /** Deliveries answered 503 because their credential is not known. */
  readonly foreign?: number
  /** Age of the oldest event, in seconds; absent where the scenario itself holds events back. */
  readonly oldestSeconds?: number
  /** A warning that has to be given. */
  readonly warns?: RegExp
}

export interface Scenario {
  readonly name: string
  readonly title: string
  /** The minute in which it begins. Before it, all replicas start and come to rest. */
  readonly begins: number
  readonly reach: Reach
  /** The part of the replicas that the deployment has; the rest is for another one. @default 1 */
  readonly share?: number
  script(world: World): void
}

const settled = 15
const still: Reach = { writes: 0, throttled: 0, foreign: 0, oldestSeconds: 120 }
const rotation: Reach = { ...still, writes: 3 }

export const scenarios: readonly Scenario[] = [
  {
    name: 'start',
    title: 'All replicas start at once; there is no event subscription',
    begins: 0,
    reach: rotation,
    script: () => {},
  },
  {
    name: 'update',
    title: 'A rolling update that changes nothing',
    begins: settled,
    reach: still,
    script: ({ at, orders, version }) => at(settled, () => orders.rollOut(version())),
  },
  {
    name: 'restart',
    title: 'All replicas crash and start again at once',
    begins: settled,
    reach: { writes: 0, throttled: 0, foreign: 0, oldestSeconds: 120 },
    script: ({ at, orders }) =>
      at(settled, () => {
        for (const pod of orders.pods) orders.crash(pod)
      }),
  },
  {
    name: 'client-secret',
    title: 'A rolling rotation of clientSecret',
    begins: settled,
    reach: rotation,
    script: ({ at, orders, version }) => at(settled, () => orders.rollOut(version({ secrets: ['new'] }))),
  },
  {
    name: 'delivery-token',
    title: 'A rolling rotation of deliveryToken: new,old',
    begins: settled,
    reach: rotation,
    script: ({ at, orders, version }) => at(settled, () => orders.rollOut(version({ secrets: ['new', 'old'] }))),
  },
  {
    name: 'rollback',
    title: 'A rotation of clientSecret that is rolled back in the middle',
    begins: settled,
    reach: rotation,
    script({ at, orders, version }) {
      at(settled, () => orders.rollOut(version({ secrets: ['new'] })))
      at(settled + 0.5, () => orders.rollOut(version()))
    },
  },
  {
    name: 'autoscaler',
    title: 'A rotation of clientSecret while the autoscaler adds old and new replicas',
    begins: settled,
    reach: rotation,
    script({ at, orders, version, replicas }) {
      at(settled, () => orders.scale(Math.ceil(replicas * 1.1)))
      at(settled + 0.2, () => orders.rollOut(version({ secrets: ['new'] })))
      at(settled + 0.4, () => orders.scale(Math.ceil(replicas * 1.2)))
      for (let stray = 0; stray < replicas / 100; stray++)
        at(settled + 0.5 + stray / 20, () => orders.addStray(version()))
      at(settled + 15, () => orders.scale(replicas))
    },
  },
  {
    name: 'crashes',
    title: 'One replica in a thousand crashes each second, for ten minutes, and starts again',
    begins: settled,
    reach: still,
    script({ at, orders, random, replicas }) {
      for (let second = 0; second < 600; second += 1_000 / replicas) {
        at(settled + second / 60, () => {
          const pod = orders.pods[Math.floor(random() * orders.pods.length)]
          if (pod) orders.crash(pod)
        })
      }
    },
  },
  {
    name: 'deleted',
    title: 'Somebody deletes the event subscription',
    begins: settled,
    reach: { ...rotation },
    script: ({ at, arm }) => at(settled, () => arm.remove()),
  },
  {
    name: 'attributes',
    title: 'Somebody removes the delivery attributes',
    begins: settled,
    // Until one replica has put them back, no delivery carries a credential.
    reach: { writes: 3, throttled: 0, oldestSeconds: 120 },
    script: ({ at, arm }) => at(settled, () => arm.removeAttributes()),
  },
  {
    name: 'arm-away',
    title: 'Azure Resource Manager does not answer for 20 minutes, and a rotation of clientSecret begins meanwhile',
    begins: settled,
    reach: { writes: 3, throttled: 0 },
    script({ at, arm, orders, version }) {
      at(settled, () => arm.setAway(true))
      at(settled + 5, () => orders.rollOut(version({ secrets: ['new'] })))
      at(settled + 20, () => arm.setAway(false))
    },
  },
  {
    name: 'zone',
    title: 'A third of the replicas has no way to Azure Resource Manager during a rotation of clientSecret',
    begins: settled,
    reach: rotation,
    script({ at, orders, version }) {
      const cut = () => {
        for (const pod of orders.pods) pod.replica.cutOff = pod.zone === 0
      }
      for (let second = 0; second < 1_500; second++) at(settled + second / 60, cut)
      at(settled + 0.1, () => orders.rollOut(version({ secrets: ['new'] })))
      at(settled + 26, () => {
        for (const pod of orders.pods) pod.replica.cutOff = false
      })
    },
  },
  {
    name: 'stale',
    title: 'A replica of a former deployment never ends, while clientSecret is rotated three times',
    begins: settled,
    // Its credential is the fourth: it is removed, and added again by the stale replica at longer and longer intervals.
    reach: { writes: 9, throttled: 0, oldestSeconds: 120, warns: /at most 3 delivery credentials/ },
    script({ at, orders, version }) {
      at(settled, () => orders.addStray(version()))
      for (const [index, secret] of ['second', 'third', 'fourth'].entries()) {
        at(settled + 2 + index * 10, () => orders.rollOut(version({ secrets: [secret] })))
      }
    },
  },
  {
    name: 'dispute',
    title: 'Two deployments with endpoints of their own share one name, and start at once',
    begins: 0,
    share: 0.5,
    reach: { writes: 8, throttled: 0, warns: /orders.*somebody else writes it too/ },
    script({ at, openOther, version, replicas }) {
      at(0, () => openOther(version({ endpointUrl: 'https://other.example.com/api/events' })).scale(replicas / 2))
    },
  },
]
