/** The checks `machine/*`: is `handshakePort` free, is the clock right, and has the running `serve` or `run` the component? */

import { createPipelineRequest } from '@azure/core-rest-pipeline'
import { createSendOnce, createTrustPolicy } from '../../../azure/http.ts'
import type { Endpoints } from '../../../core/endpoints.ts'
import { citer } from '../../../provision/handshake.ts'
import { probe } from '../../../support/net/probe.ts'
import { messageOf } from '../../../support/process/error-code.ts'
import { isRecord, readJson } from '../../../support/text/json-text.ts'
import { oneLine } from '../../../support/text/text.ts'
import type { InputContext } from '../context/side-context.ts'
import { type Finding, failed, joined, ok, warning } from '../finding.ts'
import type { CheckedComponent } from '../load-checked.ts'
import type { CheckId } from '../report.ts'

/** @param taken the component before that has the same port */
export async function checkPort(context: InputContext, taken: string | undefined): Promise<Finding> {
  const { handshakePort } = context.input
  if (taken !== undefined) {
    const remedy = 'give each component a handshakePort of its own, and route its path to it'
    return failed(`component ${JSON.stringify(taken)} has handshakePort ${handshakePort} too`, { remedy })
  }
  const holder = await context.portHolder()
  if (holder.kind === 'check') return ok(`${handshakePort} is free`)
  if (holder.kind === 'ours') {
    const held = `${handshakePort} is held by a listener of this binding`
    const state = oneLine(String(holder.health.eventSubscription), 20)
    const handler = oneLine(String(holder.health.handler), 20)
    return handler === 'missing'
      ? warning(`${held}, but no application takes events: deliveries get 503`, { remedy: noApplication })
      : ok(`${held} (event subscription ${state}, handler ${handler})`)
  }
  const { error, answer } = holder
  const server = answer?.headers.server
  const by = server === undefined ? '' : ` (server: ${citer(context.input)(server, 60)})`
  const who = answer ? `; its holder answers OPTIONS with ${answer.status}${by}` : ''
  return failed(`${error.what}${who}`, { remedy: error.fix })
}

const noApplication =
  'with run: start the application on --app-port; it must answer OPTIONS at the path of the component with 2xx or 405, ' +
  'and the log of run says what is missing. With serve: start daprd and the application; if the log of daprd says ' +
  '"app has not subscribed", the application must answer OPTIONS at that path with 2xx or 405: correct it and restart daprd. ' +
  'In a program: attach a handler'

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
  // The header has whole seconds, so its time is 500 ms behind on average.
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

/** @param sidecar its metrics port, which serves `/healthz` */
export async function askSidecar(
  sidecar: URL,
  { name, sides }: Pick<CheckedComponent, 'name' | 'sides'>,
  signal: AbortSignal,
): Promise<Finding> {
  const url = new URL('/healthz', sidecar)
  const answer = await probe({ url, method: 'GET', signal }).catch(messageOf)
  if (typeof answer === 'string') return failed(`no answer from ${url.href}: ${answer}`, { remedy: noSidecar })
  const health = readJson(answer.body)
  if (!isRecord(health) || !isRecord(health.components)) {
    const what = `${url.href} is not the health of serve or run: it answered ${answer.status}`
    return failed(what, { remedy: noSidecar })
  }
  const own = health.components[name ?? '']
  return joined(sides.map((side) => sideFinding(side, isRecord(own) ? own[side] : undefined)))
}

function sideFinding(side: string, health: unknown): Finding {
  if (!isRecord(health)) {
    const what = side === 'input' ? 'no event is received' : 'create publishes nothing'
    return failed(`the ${side} side is not initialised: ${what}`, { remedy: notInitialised })
  }
  const reasons = Array.isArray(health.reasons) ? health.reasons.map((reason) => oneLine(String(reason), 2_000)) : []
  const status = oneLine(String(health.status), 20)
  const said = [`the ${side} side is ${status}`, ...reasons].join('\n')
  return status === 'healthy' ? ok(said) : warning(said, { remedy: otherFiles })
}

const noSidecar = 'start serve or run with --metrics-port, and give its address: --sidecar http://127.0.0.1:9464'

const otherFiles =
  'where neither these reasons nor another check name a cause, the process may have other metadata or secrets ' +
  'than these files: restart it, with serve daprd'

const notInitialised =
  'with serve: daprd initialises a component only when it starts. Restart daprd (on Kubernetes the pod) if serve started after it; else ' +
  "daprd's log says why it goes on without the component: ignoreErrors, another type, or a folder of other components\n" +
  'with run: its log says why the component is left out'
