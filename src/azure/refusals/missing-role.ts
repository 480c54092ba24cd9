/** Which right a refusal names, and the line for `az` that gives a missing one. */
import { shellWord } from '../../support/text/text.ts'

/** A right in Azure: an action of RBAC, and the resource id of where it is needed. */
export interface Right {
  readonly action: string
  readonly scope: string
}

/** What a refusal of Resource Manager names. */
export interface Denial {
  /** The client, by its application id. */
  readonly client?: string
  /** The rights that it lacks. */
  readonly rights: readonly Right[]
  /** The name of a deny assignment that stands against a right which the client has. */
  readonly deniedBy?: string
  /** The Azure subscription of a linked resource that the client's tenant has nothing to do with, or that does not exist. */
  readonly foreignSubscription?: string
}

/** Resource Manager has no fields for it: it stands in its sentence. */
const lacking =
  /does not have (?:authorization|permission) to perform action(?:\(s\))? '([^']{3,2000})' (?:over|on) (?:the linked )?scope(?:\(s\))? ?'([^']{1,8000})'/i

/** Reads the message of a refusal; a text of any other form names no right. */
export function readDenial(message: string): Denial {
  const [, actions = '', scopes = ''] = lacking.exec(message) ?? []
  const client = /The client '([\w-]{1,64})'/.exec(message)?.[1]
  const deniedBy = /deny assignment with name '([^']{1,200})'/i.exec(message)?.[1]
  const foreignSubscription = (/not authorized to access linked subscription '([\w-]{1,64})'/i.exec(message) ??
    /linked subscription '([\w-]{1,64})' was not found/i.exec(message))?.[1]
  return {
    ...(client !== undefined && { client }),
    rights: pairUp(namesIn(actions, /^[\w.]+(?:\/[\w.*-]+)+$/), namesIn(scopes, /^\/[^\s"`$\\]+$/)),
    ...(deniedBy !== undefined && { deniedBy }),
    ...(foreignSubscription !== undefined && { foreignSubscription }),
  }
}

const namesIn = (list: string, form: RegExp) =>
  list.split(/[,;]/).flatMap((name) => (form.test(name.trim()) ? [name.trim()] : []))

/** Several actions and scopes belong together by their order; one action is that of all scopes. */
function pairUp(actions: readonly string[], scopes: readonly string[]): readonly Right[] {
  const isRespective = actions.length === scopes.length
  return scopes.flatMap((scope, index) =>
    actions.filter((_, at) => !isRespective || at === index).map((action) => ({ action, scope })),
  )
}

/** The smallest built-in role with an action; what to look for where none is known. */
export function roleWith(action: string): string {
  const known = roles.find(([pattern]) => pattern.test(action))
  return known ? known[1] : `<a role that has ${action}>`
}

const roles: readonly (readonly [RegExp, string])[] = [
  [/^microsoft\.eventgrid\/eventsubscriptions\//i, 'EventGrid EventSubscription Contributor'],
  [/^microsoft\.eventgrid\//i, 'EventGrid Contributor'],
  [/^microsoft\.managedidentity\/userassignedidentities\/(?:read$|assign\/)/i, 'Managed Identity Operator'],
  [/^microsoft\.storage\/storageaccounts\//i, 'Storage Account Contributor'],
]

/** @param scope as the shell takes it */
export function roleRemedy(role: string, clientId: string | undefined, scope: string): string {
  return [assign, roleLine(role, clientId, scope)].join('\n')
}

/** The same for rights that a refusal names. */
export function rightsRemedy(rights: readonly Right[], clientId: string | undefined): string {
  const lines = rights.map(({ action, scope }) => roleLine(roleWith(action), clientId, shellWord(scope)))
  return [assign, ...new Set(lines)].join('\n')
}

const assign = 'assign the role, and allow a few minutes until it counts:'

const roleLine = (role: string, clientId: string | undefined, scope: string) =>
  `az role assignment create --assignee ${shellWord(clientId ?? '<clientId>')} --role "${role}" --scope ${scope}`
