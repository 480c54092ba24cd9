/** Fills in the placeholders of values, such as `{appID}` and `{uuid}`, as daprd does. */
import { randomUUID } from 'node:crypto'
import type { Environment } from '../component/component-properties.ts'
import { BrokenRule } from '../fields/broken-rule.ts'

export interface PlaceholderOptions {
  /** Absent or empty: it is not known. */
  readonly appId?: string | undefined
  /** @default NAMESPACE of the environment, else `default` */
  readonly namespace?: string | undefined
  readonly env: Environment
  /** What gives the application's id, for the error. */
  readonly needsAppId: string
}

let uuid: string | undefined

/**
 * Makes a function that fills in the placeholders of a value as daprd does (Component spec, "Templated metadata
 * values"): `{uuid}`, `{podName}` from POD_NAME, `{appID}`, and `{namespace}`, which is the namespace and
 * the application's id. `{uuid}` is the same for the whole process, so that reading a file again changes nothing. The
 * function throws BrokenRule for a placeholder without a value.
 */
export function createPlaceholders({ appId, namespace, env, needsAppId }: PlaceholderOptions) {
  const known = (name: string, value: string | undefined, fix: string) => {
    if (value) return value
    throw new BrokenRule(`refers to ${name}, which has no value`, fix)
  }
  const values: Readonly<Record<string, () => string>> = {
    '{uuid}': () => (uuid ??= randomUUID()),
    '{podName}': () => known('{podName}', env.POD_NAME, 'set POD_NAME in the environment'),
    '{namespace}': () => `${namespace || env.NAMESPACE || 'default'}.${known('{namespace}', appId, needsAppId)}`,
    '{appID}': () => known('{appID}', appId, needsAppId),
  }
  return (text: string): string =>
    text.replace(/\{(uuid|podName|namespace|appID)\}/g, (name) => values[name]?.() ?? name)
}
