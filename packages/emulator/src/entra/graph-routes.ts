/** Which questions to Microsoft Graph are answered: those of `az role assignment create --assignee`, for a service principal. */
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { readJson } from '../../../../src/support/text/json-text.ts'
import { type Client, sameName } from '../model/resources/resource.ts'
import { queryOf, readAuthorization, ServiceError, serveAs } from '../server/service.ts'
import type { EntraRouteOptions } from './routes.ts'

const idsBody = z.object({ ids: z.array(z.string()).max(1000) })
const maxBodyBytes = 65_536

/** Adds the routes. `app` is a Fastify scope of their own. */
export function registerGraphRoutes(app: FastifyInstance, options: EntraRouteOptions): void {
  const { directory, tokens, baseUrl } = options
  const unreadable = () => new ServiceError(400, 'BadRequest', 'The request could not be read.')
  const internal = () =>
    new ServiceError(500, 'InternalServerError', 'The request could not be processed; try again later.')
  serveAs(app, options, {
    ...{ route: 'entra', bodyLimit: maxBodyBytes, read: (body) => readJson(String(body)), own: ServiceError },
    ...{ tooLarge: unreadable, unreadable, internal },
    injected: ({ status, code = 'UnknownError', message = 'The request failed.' }) =>
      new ServiceError(status, code, message),
    bodyOf: ({ code, message }) => ({ error: { code, message } }),
  })
  app.addHook('preHandler', async (request) => {
    const { scheme, credential = '' } = readAuthorization(request.headers) ?? {}
    const audience = [baseUrl(), 'https://graph.microsoft.com']
    if (scheme === 'bearer' && 'token' in (await tokens.verifyToken(credential, { audience }))) return
    throw new ServiceError(401, 'InvalidAuthenticationToken', 'The access token is empty, expired or not for Graph.')
  })

  app.get('/v1.0/servicePrincipals', async (request) => {
    const [, name] =
      /^servicePrincipalNames\/any\(c:c eq '([^']*)'\)$/.exec(queryOf(request).get('$filter') ?? '') ?? []
    const only = "The emulator finds service principals by $filter=servicePrincipalNames/any(c:c eq '...') only."
    if (name === undefined) throw new ServiceError(400, 'Request_UnsupportedQuery', only)
    return { value: directory.clients.filter(({ clientId }) => sameName(clientId, name)).map(viewed) }
  })
  app.post('/v1.0/directoryObjects/getByIds', async (request) => {
    const { data } = idsBody.safeParse(request.body)
    if (!data) throw new ServiceError(400, 'Request_BadRequest', 'ids must be a list of object ids.')
    return {
      value: directory.clients.filter(({ objectId }) => data.ids.some((id) => sameName(id, objectId))).map(viewed),
    }
  })
  app.all('/v1.0/*', () => {
    throw new ServiceError(
      404,
      'NotSupportedByEmulator',
      'Of Microsoft Graph the emulator finds service principals only.',
    )
  })
}

const viewed = ({ clientId, objectId }: Client) => ({
  '@odata.type': '#microsoft.graph.servicePrincipal',
  id: objectId,
  appId: clientId,
  displayName: clientId,
  servicePrincipalNames: [clientId],
  servicePrincipalType: 'Application',
})
