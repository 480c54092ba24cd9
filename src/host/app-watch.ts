import type { AppChannel } from './app-channel.ts'

/** How the application is watched, as Dapr's flags of the same names have it. */
export interface AppHealthCheck {
  readonly path: string
  /** Milliseconds between two probes. @default 5_000 */
  readonly intervalMs?: number
  /** Probes that fail in a row before the application counts as unhealthy. @default 3 */
  readonly threshold?: number
}

/** What {@link watchApp} needs. */
export interface AppWatchOptions {
  readonly channel: Pick<AppChannel, 'reachable' | 'healthy'>
  /** Without one the application is up from the moment its port first listens. */
  readonly health?: AppHealthCheck | undefined
  /** Called when the application has come up or gone down; it is down to begin with. */
  readonly changed: (up: boolean) => void
}

const pollMs = 100

/** Watches whether the application is there to take events. Returns how to stop. */
export function watchApp({ channel, health, changed }: AppWatchOptions): () => void {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let up = false
  let failures = 0

  async function look(): Promise<void> {
    const fine = health ? await channel.healthy(health.path) : await channel.reachable()
    if (stopped) return
    failures = fine ? 0 : failures + 1
    const before = up
    up = fine || (up && failures < (health?.threshold ?? 3))
    if (up !== before) changed(up)
    if (up && !health) return
    timer = setTimeout(look, health ? (health.intervalMs ?? 5_000) : pollMs)
  }
  look()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}
