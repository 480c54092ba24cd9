// The quick tests as one project: the whole configuration would run many of them a second time, for another Node.
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import whole from '../../vitest.config.ts'

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
const [quick] = projects
if (typeof quick !== 'object' || !('test' in quick)) throw new Error('vitest.config.ts has no project of quick tests')

export default defineConfig({
  ...whole,
  test: { ...shared, ...quick.test, sequence: { sequencer: LikeliestFirst } },
})
