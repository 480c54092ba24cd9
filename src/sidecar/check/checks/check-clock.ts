/** Check `machine/clock`: is this machine's clock, on which tokens and certificates depend, within a minute of Azure's? */
import { createPipelineRequest } from '@azure/core-rest-pipeline'
import { createSendOnce } from '../../../azure/http.ts'
import { createTrustPolicy } from '../../../azure/trust.ts'
import type { Endpoints } from '../../../core/endpoints.ts'
import type { CheckId } from '../report/check-ids.ts'
import { type Finding, failed, ok, warning } from '../report/finding.ts'

interface ClockSource {
  /** A URL of Azure; any answer has a `Date` header. Throws BindingError for an invalid endpoint. */
  url(): string
  /** The check that reports why there is no answer. */
  readonly reachedBy: CheckId
}

const maxSeconds = 60

export async function compareClock(
  { url, reachedBy }: ClockSource,
  endpoints: Endpoints,
  signal: AbortSignal,
  now = Date.now,
): Promise<Finding> {
  const asked = url()
  const sent = now()
  try {
    return clockFinding(await dateOf(asked, endpoints, signal), (sent + now()) / 2)
  } catch {
    const remedy = 'check the network and a proxy (HTTPS_PROXY)'
    const detail = `${new URL(asked).host} gave no answer, so the clock can't be compared`
    return failed(detail, { belongsTo: reachedBy, remedy })
  }
}

export function clockFinding(date: string | undefined, here: number): Finding {
  const there = Date.parse(date ?? '')
  if (Number.isNaN(there)) return warning('the answer of Azure has no date to compare the clock with')
  // The header has whole seconds, so it is 500 ms behind on average.
  const seconds = Math.round((here - there - 500) / 1_000)
  const off = Math.abs(seconds)
  if (off <= maxSeconds) return ok(`within ${Math.max(1, off)} s of Azure's`)
  const remedy = 'set the clock by a time server:\nsudo timedatectl set-ntp true'
  return failed(`this machine's clock is ${off} s ${seconds > 0 ? 'ahead of' : 'behind'} Azure's`, { remedy })
}

async function dateOf(url: string, endpoints: Endpoints, abortSignal: AbortSignal): Promise<string | undefined> {
  const answerLimit = { maxBytes: 65_536, longer: 'cut' } as const
  const send = createSendOnce({ connect: createTrustPolicy(endpoints), answerLimit })
  const allowInsecureConnection = url.startsWith('http:')
  const response = await send(createPipelineRequest({ url, method: 'GET', abortSignal, allowInsecureConnection }))
  return response.headers.get('date')
}
