/** Which local Functions host serves a function of Azure, and the URL of the function's Event Grid trigger there. */

/** A host of Azure Functions, and what it serves. */
export interface FunctionsHost {
  /** Resource id of a function; or of a function app or a slot, which stands for each of its functions. @default every function */
  readonly resourceId?: string
  /** Without a path, such as `http://127.0.0.1:7071`. A system key may follow as `?code=`. */
  readonly url: string
}

/** One URL for all functions, or a list, of which the first that fits is used. */
export type FunctionsHosts = string | readonly FunctionsHost[]

/** The URL of a function's Event Grid trigger (azure-functions-eventgrid-extension); undefined where no host serves the function. */
export function functionUrl(hosts: FunctionsHosts, functionId: string): URL | undefined {
  const wanted = `${functionId.toLowerCase()}/`
  const host =
    typeof hosts === 'string'
      ? hosts
      : hosts.find(({ resourceId = '' }) => wanted.startsWith(`${resourceId.toLowerCase().replace(/\/$/, '')}/`))?.url
  if (host === undefined) return undefined
  const url = new URL('/runtime/webhooks/EventGrid', host)
  const name = functionId.split('/').at(-1) ?? ''
  url.search = String(new URLSearchParams([['functionName', name], ...new URL(host).searchParams]))
  return url
}

/** What is said of a function that no host serves. */
export const noHostOf = (functionId: string): string =>
  `The emulator knows no host of the function ${functionId}: give functions in the configuration, or the option functions, ` +
  'such as http://127.0.0.1:7071 for all functions, or a list of { resourceId, url }.'
