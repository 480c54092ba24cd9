/** Who may load the page, and what the page may load: static files, which call the test interface. */
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { isOwnHost } from '../../../../src/support/net/hosts.ts'

/** The page loads only its own files, has no inline script or style, and never parses text as markup. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const safeHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
} as const

/** The page's own files, beside this one both in the sources and in what is built from them. */
const assets = new URL('./assets/', import.meta.url)

const assetTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
}

/** Whether a path belongs to the page, which is served over plain http too. */
export function isPagePath(path: string): boolean {
  return /^\/(?:$|\?|page\/)/.test(path)
}

/**
 * Adds the page's files. `app` is a Fastify scope of its own. Its requests are not recorded. @param host the address that is listened on
 */
export function registerPageRoutes(app: FastifyInstance, { host }: { readonly host: string }): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(safeHeaders)
    if (!isOwnHost(request, host))
      return reply.code(403).send({ error: { message: 'The page is served to this machine only.' } })
  })
  for (const name of readdirSync(assets)) {
    app.get(name === 'index.html' ? '/' : `/page/${name}`, async (_request, reply) =>
      reply.type(assetTypes[extname(name)] ?? '').send(await readFile(new URL(name, assets))),
    )
  }
}
