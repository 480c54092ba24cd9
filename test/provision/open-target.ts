import type { RenewableCredential } from '../../src/azure/token-keeper.ts'
import type { PushMetadata } from '../../src/metadata/typed/metadata.ts'
import { connectArm } from '../../src/provision/arm.ts'
import type { FailedAttempt, ProvisionTarget, ProvisionTask } from '../../src/provision/attempts.ts'
import { failureContext } from '../../src/provision/failure-context.ts'
import { wantedWebHook } from '../../src/provision/needs-webhook.ts'
import { startFakeArm } from './fake-arm.ts'
import type { Answer, Asked, Json, Properties } from './scripted-arm.ts'

export const aToken = () => ({ token: 'token-marked', expiresOnTimestamp: Date.now() + 3_600_000 })
export const oneToken: RenewableCredential = { getToken: async () => aToken(), renew: () => false }

/** A clock that a pause moves forward at once. `setForward` sets the time of day alone. */
function virtualTime() {
  let time = 1_000_000
  let ahead = 0
  const waits: number[] = []
  return {
    waits,
    now: () => time + ahead,
    elapsed: () => time,
    setForward: (ms: number) => {
      ahead += ms
    },
    /** Lets time pass that nobody waited for, as that of a slow answer. */
    pass: (ms: number) => {
      time += ms
    },
    setTimer(ms: number, callback: () => void) {
      waits.push(ms)
      time += ms
      const timer = setImmediate(callback)
      return () => clearImmediate(timer)
    },
  }
}

export interface TargetOptions {
  readonly once?: ((asked: Asked) => Answer | undefined) | undefined
  readonly hide?: ((properties: Properties) => Json) | undefined
  readonly requestTimeoutMs?: number | undefined
  readonly credential?: RenewableCredential | undefined
}

/** A fake Resource Manager, and what is needed to provision push in it, by a clock that does not wait. */
export async function openTarget({ once, hide, requestTimeoutMs, credential = oneToken }: TargetOptions = {}) {
  const arm = await startFakeArm({ ...(once && { once }), ...(hide && { hide }) })
  const time = virtualTime()
  const log: string[] = []
  const note = (level: string) => (message: string, fields?: object) => {
    log.push(`${level} ${message} ${JSON.stringify(fields)}`)
  }
  const logger = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') }
  const failed: FailedAttempt[] = []
  const endpoints = { resourceManager: arm.url, ca: arm.ca }
  const targetOf = (input: PushMetadata): ProvisionTarget => {
    const { environment, subscriptionId } = input
    const connection = { environment, subscriptionId, credential, endpoints, clock: time }
    return {
      arm: connectArm({ ...connection, ...(requestTimeoutMs && { requestTimeoutMs }) }),
      input,
      wanted: [wantedWebHook(input)],
      context: () => failureContext(input, arm.url),
      receivesWithoutRights: false,
    }
  }
  const taskOf = (how: Partial<ProvisionTask> = {}): ProvisionTask => ({
    ...{ signal: new AbortController().signal, logger, patience: 'timeout', clock: time, random: () => 0.5 },
    onAttempt: (each) => failed.push(each),
    ...how,
  })
  return { arm, time, log, failed, targetOf, taskOf }
}
