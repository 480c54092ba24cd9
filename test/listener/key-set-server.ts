import { createServer } from 'node:https'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { createCertificateAuthority } from '../../packages/emulator/src/server/tls/certificates.ts'
import { listen } from '../support/listen.ts'

/** A key that signs, by its id. */
export async function createSigner(keyId: string) {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: keyId, use: 'sig' }
  return {
    jwk,
    sign: (claims: JWTPayload, header: { readonly alg?: string; readonly kid?: string } = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: keyId, typ: 'JWT', ...header }).sign(privateKey),
  }
}

/** An https server that answers like Entra's key endpoint; what it answers can be changed. */
export async function openKeySetServer(keys: readonly object[]) {
  const authority = createCertificateAuthority()
  const { certificate, key } = authority.issue(['127.0.0.1'])
  const state = { status: 200, body: JSON.stringify({ keys }), requests: [] as string[], cutOff: 0 }
  const server = createServer({ key, cert: certificate }, (request, response) => {
    state.requests.push(request.url ?? '')
    if (request.url === '/moved') return void response.writeHead(302, { location: '/keys' }).end()
    // No answer at all, or no more of it than its head.
    if (state.status === 0 || request.url === '/endless') {
      if (state.status !== 0) response.writeHead(state.status).flushHeaders()
      return void request.socket.once('close', () => state.cutOff++)
    }
    response.writeHead(state.status, { 'content-type': 'application/json' }).end(state.body)
  })
  return { state, ca: authority.certificate, authorityHost: `https://127.0.0.1:${await listen(server)}` }
}
