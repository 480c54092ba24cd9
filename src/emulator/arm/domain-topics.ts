import { domainTopic } from './automatic-domain-topics.ts'
import { armErrors } from './errors.ts'
import type { ResourceKind } from './resources.ts'

/** The topics of domains. */
export const domainTopicKind: ResourceKind<'domains/topics'> = {
  type: 'domains/topics',
  put({ id, name }, existing) {
    if (!/^[A-Za-z0-9-]{3,50}$/.test(name)) throw armErrors.invalidRequest('Invalid domain topic name.')
    return existing ?? domainTopic(id)
  },
  patch({ call }) {
    throw armErrors.methodNotAllowed(call.method, 'GET, PUT, DELETE')
  },
  view: (_options, _call, _topic, provisioningState) => ({ properties: { provisioningState } }),
}
