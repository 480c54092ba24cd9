/** Check `machine/sidecar`: has the running `serve` or `run` this component, with healthy sides? */
import { bareHost, probe } from '../../../support/net/probe.ts'
import { messageOf } from '../../../support/process/error-code.ts'
import { isRecord } from '../../../support/text/is-record.ts'
import { readJson } from '../../../support/text/json-text.ts'
import { oneLine } from '../../../support/text/text.ts'
import type { CheckedComponent } from '../load-checked.ts'
import { type Finding, failed, joined, ok, warning } from '../report/finding.ts'

/** @param sidecar its metrics port, which serves `/healthz` */
export async function askSidecar(
  sidecar: URL,
  { name, metadata }: CheckedComponent,
  signal: AbortSignal,
): Promise<Finding> {
  const url = new URL('/healthz', sidecar)
  const { input, pull, output } = metadata ?? {}
  const sides = [(input ?? pull) && 'input', output && 'output'].filter((side) => side !== undefined)
  const target = { address: bareHost(url), port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)) }
  const answer = await probe({ url, target, method: 'GET', signal }).catch(messageOf)
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
