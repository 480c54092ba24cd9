// The tests of the library and the commands as one project. The whole configuration would run many a second time, for another Node.
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import whole from '../../vitest.config.ts'
import { testFilesVariable } from './tests-of.ts'

/** A mutant is done with when one test notices it: files that noticed the one before come first, then the quickest. */
class LikeliestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = (file: TestSpecification) => {
      const before = this.ctx.cache.getTestSpecificationResult(file)
      return before?.failed ? -1 : (before?.duration ?? 0)
    }
    return files.toSorted((one, other) => rank(one) - rank(other))
  }
}

const { projects = [], ...shared } = whole.test ?? {}
const project = (name: string) => {
  for (const one of projects) if (typeof one === 'object' && 'test' in one && one.test?.name === name) return one.test
  throw new Error(`vitest.config.ts has no project ${name}`)
}
const { include: ofCommands } = project('commands')
const { exclude, ...quick } = project('tests')

export default defineConfig({
  ...whole,
  test: {
    ...shared,
    ...quick,
    // A mutant by which nothing comes any more is noticed when the first test has waited so long: many times what the slowest test takes.
    ...{ testTimeout: 20_000, hookTimeout: 20_000, expect: { poll: { timeout: 10_000 } } },
    // Not all tests of the commands start a process, where no mutant is. This one does nothing else.
    exclude: [...(exclude?.filter((path) => !ofCommands?.includes(path)) ?? []), 'test/binding/stages.test.ts'],
    include: JSON.parse(process.env[testFilesVariable] ?? '[]'),
    sequence: { sequencer: LikeliestFirst },
  },
})
