/** Event Grid's handshake as `check` tries it: both requests at once, and the health of whoever answers. */
import { randomUUID } from 'node:crypto'
import { secureContextOf } from '../../../azure/trust.ts'
import type { Endpoints } from '../../../core/endpoints.ts'
import type { InputMetadata } from '../../../metadata/typed/metadata.ts'
import { type HandshakeRequest, optionsRequest, validationRequest } from '../../../provision/handshake.ts'
import { probe, type Target } from '../../../support/net/probe.ts'

export type EndpointAnswers = Awaited<ReturnType<typeof probeEndpoint>>

/** Asks the first of all addresses that answers. Rejects where none does, with the error of the first. */
export async function probeEndpoint(
  input: InputMetadata,
  targets: readonly Target[],
  endpoints: Endpoints,
  signal: AbortSignal,
) {
  const shared = { url: new URL(input.subscriberEndpoint), secureContext: secureContextOf(endpoints), signal }
  const code = randomUUID()
  let first: unknown
  for (const target of targets) {
    const ask = (request: HandshakeRequest) => probe({ ...shared, target, ...request })
    try {
      const [health, options, validation] = await Promise.all([
        ask({ method: 'OPTIONS' }),
        ask(optionsRequest(input)),
        ask(validationRequest(input, code)),
      ])
      /** `code`: what the answer to the validation event must have. */
      return { health, options, validation, code }
    } catch (error) {
      first ??= error
    }
  }
  throw first ?? new Error('the name has no address')
}
