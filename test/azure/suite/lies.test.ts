/** A run against an emulator that lies in ten places names these. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { playRecording, recordingForm } from '../../../packages/emulator/test/recorded/play-recording.ts'
import { lies, lyingAzure } from './lies.ts'
import { openAzure, run } from './open-azure.ts'

it('finds each of ten lies, and nothing else, and its record of one is a test that fails', async () => {
  const azure = await openAzure(lyingAzure)
  const records = join(azure.folder, 'records')
  const { report, good } = await run(azure, ...azure.pushArgs, '--record', records)
  const found = report?.results.filter(({ outcome }) => outcome === 'differs') ?? []
  expect(found.map(({ fact, asks }) => `${fact}: ${asks}`).toSorted()).toEqual(lies.toSorted())
  expect(lies).toHaveLength(10)
  expect(good).toBe(false)
  expect(await azure.contents()).toEqual([])

  // The emulator of the test does not lie, as if Azure did otherwise than it.
  const [file = ''] = globSync('topic-name-characters--*.json', { cwd: records })
  const recording = recordingForm.parse(JSON.parse(readFileSync(join(records, file), 'utf8')))
  expect(await playRecording(recording)).toEqual([expect.stringContaining('"This name is no good." on record')])
})
