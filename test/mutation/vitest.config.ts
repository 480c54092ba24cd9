// The quick tests as one project: the whole configuration would run many of them a second time, for another Node.
import { defineConfig } from 'vitest/config'
import whole from '../../vitest.config.ts'

const { projects = [], ...shared } = whole.test ?? {}
const [quick] = projects
if (typeof quick !== 'object' || !('test' in quick)) throw new Error('vitest.config.ts has no project of quick tests')

export default defineConfig({ ...whole, test: { ...shared, ...quick.test } })
