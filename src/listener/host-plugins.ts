import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { BindingError } from '../core/errors.ts'
import { messageOf } from '../support/error-code.ts'

/** The option `fastify`: a host adds plugins, hooks and routes of its own to the server of the listener. */
export type FastifyHook = (server: FastifyInstance) => unknown

/** Fastify's mark of a plugin that is not encapsulated, which is how the host's plugins and hooks see the whole server. */
const skipOverride = Symbol.for('skip-override')

/**
 * Loads the host's plugins, then `ours`, so that hooks of the host see deliveries too. Fastify gives each plugin ten seconds.
 * @throws BindingError PLUGIN_FAILED; the server is closed then
 */
export async function loadPlugins(
  app: FastifyInstance,
  host: FastifyHook | undefined,
  ours: readonly FastifyPluginAsync[],
): Promise<void> {
  try {
    if (host) await app.register(Object.assign(async () => void (await host(app)), { [skipOverride]: true }))
    for (const plugin of ours) await app.register(plugin)
    await app.ready()
  } catch (error) {
    await app.close()
    throw new BindingError('PLUGIN_FAILED', {
      what: `the option fastify failed: ${messageOf(error)}`,
      fix: 'correct the plugins, hooks and routes that it adds',
      cause: error,
    })
  }
}
