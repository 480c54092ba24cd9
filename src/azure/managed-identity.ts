/** The managed identity of the machine by MSAL, past its cache: a token that was refused would come from there again. */
import type { TokenCredential } from '@azure/core-auth'
import { createHttpHeaders, createPipelineRequest, type HttpClient, type HttpMethods } from '@azure/core-rest-pipeline'
import { ManagedIdentityApplication, type NetworkRequestOptions } from '@azure/msal-node'

/**
 * A credential that asks the identity endpoint for each token. ManagedIdentityCredential of @azure/identity has no way past the cache,
 * which MSAL keeps for the whole process.
 *
 * @param clientId that of a user-assigned identity; the machine's own without it
 */
export function createManagedIdentity(clientId: string | undefined, httpClient: HttpClient): TokenCredential {
  async function send(method: HttpMethods, url: string, { headers = {}, body }: NetworkRequestOptions = {}) {
    const request = createPipelineRequest({
      url,
      method,
      headers: createHttpHeaders(headers),
      allowInsecureConnection: true,
    })
    if (body !== undefined) request.body = body
    const { status, headers: answered, bodyAsText } = await httpClient.sendRequest(request)
    return { status, headers: answered.toJSON(), body: JSON.parse(bodyAsText ?? '') }
  }
  const application = new ManagedIdentityApplication({
    ...(clientId !== undefined && { managedIdentityIdParams: { userAssignedClientId: clientId } }),
    system: {
      // Whoever asks for a token tries again.
      disableInternalRetries: true,
      networkClient: {
        sendGetRequestAsync: (url, options) => send('GET', url, options),
        sendPostRequestAsync: (url, options) => send('POST', url, options),
      },
    },
  })
  return {
    async getToken(scopes) {
      const { accessToken, expiresOn } = await application.acquireToken({
        resource: [scopes].flat().join(' '),
        forceRefresh: true,
      })
      return expiresOn && { token: accessToken, expiresOnTimestamp: expiresOn.getTime() }
    },
  }
}
