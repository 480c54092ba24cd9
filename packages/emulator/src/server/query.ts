// The query of a request, read in one way by all that answer requests.

/** The parameters after the first question mark. The first of several with one name counts. */
export function queryOf({ url }: { readonly url: string }): URLSearchParams {
  const [, search = ''] = url.split(/\?(.*)/s)
  return new URLSearchParams(search)
}
