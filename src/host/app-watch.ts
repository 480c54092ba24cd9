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
  /** Without one the application is up from the moment its port listens, until somebody finds it gone. */
  readonly health?: AppHealthCheck | undefined
  /** Called when the application has come up or gone down; it is down to begin with. */
  readonly changed: (up: boolean) => void
  /** Called where the first look does not find it. */
  readonly missing: () => void
}

const pollMs = 100

/** A watch that goes on until it is stopped. */
export interface AppWatch {
  /**
   * Nothing listens on the application's port: it is down until it does again. Where its health
   * is asked for, that alone counts.
   */
  gone(): void
  stop(): void
}

/** Watches whether the application is there to take events. */
export function watchApp({ channel, health, changed, missing }: AppWatchOptions): AppWatch {
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
  look().then(() => {
    if (!up && !stopped) missing()
  })
  return {
    gone() {
      if (stopped || !up || health) return
      up = false
      changed(false)
      timer = setTimeout(look, pollMs)
    },
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
