/** What to do about a missing right, a certificate that is refused, or an address at which nothing listens. */

import { isLoopback } from '../../support/net/hosts.ts'
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

/** Nothing of Azure itself is on this machine. */
const isHere = (url: string) => URL.canParse(url) && isLoopback(new URL(url).hostname)

/** What to do where nothing listens at an address of this machine; `undefined` for any other error. A retry may help. */
export function silenceRemedy(code: string | undefined, url: string): string | undefined {
  if (code !== 'ECONNREFUSED' || !isHere(url)) return undefined
  return `nothing listens at ${new URL(url).host}: start the emulator (eventgrid-binding emulate), or correct the address`
}

/**
 * What to do about an error with the certificate of the server at a URL, by Node's or OpenSSL's code; `undefined` for any
 * other error. A retry does not help.
 */
export function certificateRemedy(code: string | undefined = '', url = ''): string | undefined {
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return "its certificate is out of date: renew it, unless this machine's clock is wrong"
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'its certificate is for another host: check the name in the endpoint'
  if (!/CERT|SIGNATURE|SELF_SIGNED|ISSUER/.test(code)) return undefined
  if (isHere(url))
    return (
      'its certificate is not trusted: after a restart an emulator has a new certificate. run --emulator takes it in a ' +
      'moment: try again. Restart any other process, or start emulate with --state FILE, which keeps the certificate; ' +
      'without --emulator set endpoints.ca or NODE_EXTRA_CA_CERTS to its certificate authority'
    )
  return (
    'its certificate is not trusted: set endpoints.ca, or NODE_EXTRA_CA_CERTS (which Node reads at ' +
    'its start: restart this process), to the authority that issued it'
  )
}
