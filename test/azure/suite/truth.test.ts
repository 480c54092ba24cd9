/** A whole run against the emulator, which does as Azure does. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { playRecording, recordingForm, unplayable } from '../../../packages/emulator/test/recorded/play-recording.ts'
import { reportLines } from '../report/report.ts'
import { openAzure, run } from './open-azure.ts'

it('finds that all holds, leaves nothing, and records what the emulator then answers again', async () => {
  const azure = await openAzure()
  const records = join(azure.folder, 'records')
  const application = ['--application', 'api://probe']
  const { report, good } = await run(azure, ...azure.pushArgs, ...application, '--record', records)
  expect(report && reportLines(report)).toEqual([
    expect.stringMatching(/^skipped {2}publish-wrong-path: .*an emulator has no region in its host names$/),
    expect.stringMatching(/^\d+ hold, 0 differ, 1 skipped$/),
  ])
  expect(good).toBe(true)
  expect(await azure.contents()).toEqual([])
  expect(JSON.parse(readFileSync(join(azure.folder, 'azure-report.json'), 'utf8'))).toEqual(report)

  const files = globSync('*.json', { cwd: records }).toSorted()
  const texts = files.map((file) => readFileSync(join(records, file), 'utf8'))
  expect(texts.length).toBeGreaterThan(150)
  const { emulator, env } = azure
  for (const secret of [...Object.values(env), emulator.clientSecret, new URL(azure.front.url).host, 'eyJ']) {
    expect(texts.filter((text) => text.includes(secret))).toEqual([])
  }
  const recordings = texts.map((text) => recordingForm.parse(JSON.parse(text)))
  // How a webhook answered is not on record.
  const playable = recordings.filter(
    (recording) => unplayable(recording) === undefined && !JSON.stringify(recording).includes('{public}'),
  )
  expect(playable.length).toBeGreaterThan(50)
  const differing: string[] = []
  for (const recording of playable) {
    const found = await playRecording(recording)
    if (found.length > 0) differing.push(`${recording.fact}: ${recording.asks}: ${found.join('; ')}`)
  }
  expect(differing).toEqual([])
})
