import { between } from './random.ts'
import { createReplica, type Replica, type ReplicaOptions, type Version } from './replica.ts'

type PodState = 'starting' | 'ready' | 'ending' | 'gone'

/** A pod with one replica in it. */
export interface Pod {
  readonly replica: Replica
  readonly version: Version
  readonly zone: number
  state: PodState
  /** Does the ingress still lead to it? */
  routed: boolean
}

/** A deployment, and the service in front of it. */
export interface Deployment {
  readonly pods: readonly Pod[]
  /** Starts all pods at once, or as many more as are asked for, or ends the newest. */
  scale(count: number): void
  /** Replaces the pods step by step by those of another version; a call during another rollout takes its place. */
  rollOut(version: Version): void
  /** Starts a pod of any version beside the others, which no rollout replaces. */
  addStray(version: Version): Pod
  /** Ends a pod without a word, as a crash does. It starts anew with the same version. */
  crash(pod: Pod): void
  /** A pod that the ingress chooses, if any is ready. */
  choose(): Pod | undefined
}

/** Kubernetes' defaults, and the readiness probe of examples/kubernetes. */
const limits = { surge: 0.25, unavailable: 0.25, createdPerSecond: 20 } as const
const startUpMs = [2_000, 5_000] as const
const probeMs = 5_000
const preStopMs = 10_000
/** How long the ingress still leads to a pod that ends, or has crashed. */
const unroutedMs = [500, 2_000] as const
const controllerMs = 1_000
const zones = 3

export function createDeployment(first: Version, options: ReplicaOptions): Deployment {
  const { time, random } = options
  let pods: Pod[] = []
  let version = first
  let wanted = 0
  let routed: Pod[] = []
  let created = 0
  const strays = new Set<Pod>()

  const route = (pod: Pod, to: boolean) => {
    pod.routed = to
    routed = to ? [...routed, pod] : routed.filter((other) => other !== pod)
  }

  function create(of: Version): Pod {
    const pod: Pod = {
      replica: createReplica(of, options),
      version: of,
      zone: created++ % zones,
      state: 'starting',
      routed: false,
    }
    pods.push(pod)
    time.after(between(random, ...startUpMs), () => {
      if (pod.state !== 'starting') return
      pod.replica.start()
      time.after(random() * probeMs, () => probe(pod))
    })
    return pod
  }

  function probe(pod: Pod): void {
    if (pod.state !== 'starting') return
    if (pod.replica.isReady()) {
      pod.state = 'ready'
      route(pod, true)
    } else time.after(probeMs, () => probe(pod))
  }

  function end(pod: Pod): void {
    pod.state = 'ending'
    time.after(between(random, ...unroutedMs), () => route(pod, false))
    time.after(preStopMs, () => remove(pod))
  }

  function remove(pod: Pod): void {
    pod.state = 'gone'
    pod.replica.close()
    pods = pods.filter((other) => other !== pod)
  }

  /** One step of the controller: as many new pods as surge allows, as few ready ones as unavailable allows. */
  function reconcile(): void {
    const live = pods.filter((pod) => pod.state !== 'ending' && !strays.has(pod))
    const fresh = live.filter((pod) => pod.version === version)
    const old = live.filter((pod) => pod.version !== version)
    const rolling = old.length > 0
    const most = rolling ? wanted + Math.ceil(wanted * limits.surge) : wanted
    const missing = Math.min(wanted - fresh.length, most - live.length)
    for (let count = 0; count < missing; count++) create(version)
    for (const pod of fresh.slice(wanted)) end(pod)
    const ready = live.filter((pod) => pod.state === 'ready').length
    let spare = ready - (wanted - Math.floor(wanted * limits.unavailable))
    if (fresh.length >= wanted) spare = Math.max(spare, ready - wanted)
    for (const pod of old) {
      if (pod.state === 'starting') end(pod)
      else if (spare-- > 0) end(pod)
    }
  }

  // The controller creates so many pods a second, so a step of a second handles no more.
  const reconcileWithinRate = () => {
    const before = pods.length
    reconcile()
    if (pods.length - before > limits.createdPerSecond && !atOnce) trim(before + limits.createdPerSecond)
    time.after(controllerMs, reconcileWithinRate)
  }
  let atOnce = false
  const trim = (count: number) => {
    for (const pod of pods.slice(count)) pod.state = 'gone'
    pods = pods.slice(0, count)
  }
  time.after(controllerMs, reconcileWithinRate)

  return {
    get pods() {
      return pods
    },
    scale(count) {
      atOnce = pods.length === 0
      wanted = count
      if (atOnce) reconcile()
      atOnce = false
    },
    rollOut(next) {
      version = next
    },
    addStray(of) {
      const pod = create(of)
      strays.add(pod)
      return pod
    },
    crash(pod) {
      pod.state = 'gone'
      pod.replica.close()
      pods = pods.filter((other) => other !== pod)
      time.after(between(random, ...unroutedMs), () => route(pod, false))
    },
    choose: () => routed[Math.floor(random() * routed.length)],
  }
}
