/**
 * Tries a model in random worlds. MODEL_RUNS sets how many, MODEL_SEED repeats those of a failure:
 * `MODEL_RUNS=5000 npx vitest run test/receiver/pull-model.test.ts --testTimeout 3600000`.
 */
import fc from 'fast-check'

/** Less than a test may take: what was found is told before the test is ended. */
const limitNs = 30_000_000_000n

/**
 * `live` throws where a promise is broken. The `known` worlds, which failed once, come first. A slow machine tries fewer worlds, and makes
 * what it finds less short.
 */
export async function tryWorlds<T>(
  script: fc.Arbitrary<T>,
  { count, known = [] }: { readonly count: number; readonly known?: readonly T[] },
  live: (script: T) => Promise<void>,
): Promise<void> {
  const asked = process.env.MODEL_RUNS
  // Not `performance`, which a model may replace.
  const started = process.hrtime.bigint()
  const isOver = () => asked === undefined && process.hrtime.bigint() - started > limitNs
  const world = fc.asyncProperty(script, async (given) => {
    if (!isOver()) await live(given)
  })
  const seed = process.env.MODEL_SEED
  const examples = known.map((one): [T] => [one])
  await fc.assert(world, {
    numRuns: Number(asked ?? count),
    examples,
    ...(seed !== undefined && { seed: Number(seed) }),
  })
}
