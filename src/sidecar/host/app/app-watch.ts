/** Whether the application is up, by its port or its health. */
import { inBackground } from '../../../support/work/work.ts'
import type { AppChannel } from './app-channel.ts'

/** How the application's health is checked, as by Dapr's flags of the same names. */
export interface AppHealthCheck {
  readonly path: string
  /** Milliseconds between two probes. */
  readonly intervalMs: number
  /** Probes that fail in a row before the application counts as unhealthy. */
  readonly threshold: number
}

export interface AppWatchOptions {
  readonly channel: Pick<AppChannel, 'reachable' | 'healthy'>
  /** Without it the application is up once its port accepts connections, until `gone` is called. */
  readonly health?: AppHealthCheck | undefined
  /** Called when the application has come up or gone down. At first the application counts as down. */
  readonly changed: (up: boolean) => void
  /** Called when the first check does not find the application. */
  readonly missing: () => void
  /** Called with what one of these throws. The watch goes on. */
  readonly failed: (error: unknown) => void
}

const pollMs = 100

export function watchApp({ channel, health, changed, missing, failed }: AppWatchOptions) {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let up = false
  let failures = 0

  async function check(): Promise<void> {
    const isUp = await (health ? channel.healthy(health.path) : channel.reachable()).catch(() => false)
    if (stopped) return
    failures = isUp ? 0 : failures + 1
    const before = up
    up = isUp || (up && health !== undefined && failures < health.threshold)
    try {
      if (up !== before) changed(up)
    } finally {
      if (!up || health) checkIn(health?.intervalMs ?? pollMs)
    }
  }

  function checkIn(ms: number): void {
    if (stopped) return
    timer = setTimeout(() => inBackground(check(), failed), ms)
  }

  const first = check().then(() => {
    if (!up && !stopped) missing()
  })
  inBackground(first, failed)
  return {
    /** Reports that nothing listens on the application's port: it is down until it listens again. Ignored with health checks. */
    gone() {
      if (stopped || !up || health) return
      up = false
      checkIn(pollMs)
      changed(false)
    },
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
