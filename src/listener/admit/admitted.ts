/** What a request keeps between the decision on its head and the end of its body. */
import type { IncomingMessage } from 'node:http'

/** What is known of a request whose body is read. */
export interface Admitted {
  readonly as: 'validation' | 'delivery'
  /** Milliseconds of a monotonic clock, when the head was there. */
  readonly arrivedAt: number
}

const key: unique symbol = Symbol('admitted')

type NodeRequest = IncomingMessage & { [key]?: Admitted }

/**
 * Keeps it with Node's request. A decorator of Fastify's would be looked up anew for each event where there are many components, because
 * each of them has its own class of requests.
 */
export function admit(request: NodeRequest, admitted: Admitted): void {
  request[key] = admitted
}

export function admittedOf({ [key]: admitted }: NodeRequest): Admitted {
  if (!admitted) throw new Error('a request did not pass the gate')
  return admitted
}
