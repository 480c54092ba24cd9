import type { InvokeAnswer } from '../binding/binding.ts'
import { BindingError } from '../core/errors.ts'
import type { Host } from './host.ts'

export interface OutputCall {
  readonly name: string
  readonly operation: string | null | undefined
  readonly data: unknown
  readonly metadata: Readonly<Record<string, string>>
}

/** A call that failed; the message is the one that Dapr gives. */
export class OutputCallError extends Error {
  override readonly name = 'OutputCallError'
}

/**
 * Runs an operation of an output binding.
 *
 * @throws OutputCallError for every failure
 */
export async function callOutput(host: Host, { name, operation, data, metadata }: OutputCall): Promise<InvokeAnswer> {
  const refusal = (why: string, cause?: unknown) =>
    new OutputCallError(`error invoking output binding ${name}: ${why}`, { cause })
  if (!operation) throw refusal('operation field is missing from request')
  const component = host.find(name)
  if (!component) throw refusal(`couldn't find output binding ${name}`)
  const operations = component.operations()
  if (!operations.includes(operation)) {
    const supported = `supported operations:${operations.join(' ')}`
    throw refusal(`binding ${name} does not support operation ${operation}. ${supported}`)
  }
  try {
    return await component.invoke(operation, data, metadata)
  } catch (error) {
    throw refusal(error instanceof BindingError ? error.message : 'an unexpected error', error)
  }
}
