// What to do about a missing role: the line for `az`.
import { shellWord } from '../support/text/text.ts'

/** @param scope as the shell takes it */
export function roleRemedy(role: string, clientId: string | undefined, scope: string): string {
  const assignee = shellWord(clientId ?? '<clientId>')
  const line = `az role assignment create --assignee ${assignee} --role "${role}" --scope ${scope}`
  return `assign the role, and allow a few minutes until it counts:\n${line}`
}
