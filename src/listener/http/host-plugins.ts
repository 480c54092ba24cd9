/** The option `fastify`: how the host's own plugins and routes are loaded. */
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { BindingError } from '../../core/errors.ts'
import { messageOf } from '../../support/process/error-code.ts'

/** The option `fastify`: a host adds plugins, hooks and routes of its own to the server of the listener. */
export type FastifyHook = (server: FastifyInstance) => unknown

/** Fastify's mark of a plugin that is not encapsulated, which is how the host's plugins and hooks see the whole server. */
const skipOverride = Symbol.for('skip-override')

/**
 * Loads the host's plugins, then `ours`, so that hooks of the host see deliveries too. Fastify gives each plugin ten seconds.
 * @throws BindingError PLUGIN_FAILED
 */
export async function loadPlugins(
  app: FastifyInstance,
  host: FastifyHook | undefined,
  ours: readonly FastifyPluginAsync[],
): Promise<void> {
  const load = async () => {
    try {
      await host?.(app)
    } catch (error) {
      // Fastify would take `undefined` for a success.
      fail(error)
    }
  }
  try {
    await app.register(Object.assign(load, { [skipOverride]: true }))
    for (const plugin of ours) await app.register(plugin)
    await app.ready()
  } catch (error) {
    fail(error)
  }
}

function fail(cause: unknown): never {
  if (cause instanceof BindingError && cause.code === 'PLUGIN_FAILED') throw cause
  throw new BindingError('PLUGIN_FAILED', {
    what: `the option fastify failed: ${messageOf(cause)}`,
    fix: 'correct the plugins, hooks and routes that it adds',
    cause,
  })
}
