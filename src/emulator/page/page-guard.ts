import { type BrowserRequest, isForeignFetch, isOwnOrigin } from '../../support/request-origin.ts'

/**
 * Why a POST does not come from the page itself, or undefined if it does. A form of another site can
 * send neither this origin nor JSON.
 */
export function foreignPost(request: BrowserRequest): string | undefined {
  if (isForeignFetch(request) || !isOwnOrigin(request)) {
    return 'Only the page itself may publish here. Others publish to the topic.'
  }
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  return type === 'application/json' ? undefined : 'The request must be application/json.'
}
