// Placeholders `{uuid}`, `{podName}`, `{namespace}`, `{appID}` in values, filled in as daprd does.
import { randomUUID } from 'node:crypto'
import { BrokenRule } from '../fields/broken-rule.ts'

export interface PlaceholderOptions {
  readonly appId: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** What gives the application's id, for the error. @default 'start with --app-id' */
  readonly needsAppId?: string
}

/**
 * Makes a function that fills in the placeholders of a value as daprd does (Component spec, "Templated metadata
 * values"): `{uuid}`, `{podName}` from POD_NAME, `{appID}`, and `{namespace}`, which is NAMESPACE (or `default`) and
 * the application's id. `{uuid}` is the same for the whole process, so that reading a file again changes nothing. The
 * function throws BrokenRule for a placeholder without a value.
 */
export function createPlaceholders({
  appId,
  env,
  needsAppId = 'start with --app-id',
}: PlaceholderOptions): (text: string) => string {
  const uuid = randomUUID()
  const known = (name: string, value: string | undefined, fix: string) => {
    if (value) return value
    throw new BrokenRule(`refers to ${name}, which has no value`, fix)
  }
  const values: Readonly<Record<string, () => string>> = {
    '{uuid}': () => uuid,
    '{podName}': () => known('{podName}', env.POD_NAME, 'set POD_NAME in the environment'),
    '{namespace}': () => `${env.NAMESPACE || 'default'}.${known('{namespace}', appId, needsAppId)}`,
    '{appID}': () => known('{appID}', appId, needsAppId),
  }
  return (text) => text.replace(/\{(uuid|podName|namespace|appID)\}/g, (name) => values[name]?.() ?? name)
}
