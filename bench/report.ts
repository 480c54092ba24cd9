import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { drawBars, drawCurves } from './plot.ts'
import type { Result } from './results.ts'
import type { Findings } from './suite.ts'

/** What the report says beside the findings. */
export interface Circumstances {
  readonly machine: readonly string[]
  readonly command: string
  readonly rounds: number
  readonly runMs: number
  readonly finished: Date
}

const verdict = ({ met }: Result) => (met === undefined ? '' : met ? 'met' : '**not met**')

/** Findings as a table in Markdown. */
export function table(results: readonly Result[]): string {
  const head =
    '| what | ours | peer | its figure | ratio | by processor time | aim | |\n|---|---|---|---|---|---|---|---|'
  const rows = results.map((one) => {
    const { what, ours, peer, peerFigure, ratio, cpuRatio, target } = one
    return `| ${[what, ours, peer, peerFigure, ratio, cpuRatio, target, verdict(one)].join(' | ')} |`
  })
  return [head, ...rows].join('\n')
}

/** How many aims are met, in a line. */
export function summary(all: readonly Findings[]): string {
  const aims = all.flatMap(({ results }) => results).filter(({ met }) => met !== undefined)
  return `${aims.filter(({ met }) => met).length} of ${aims.length} aims are met`
}

/**
 * Writes RESULTS.md into a folder and its pictures into another; takes over what `where-time-goes.md` beside this file says.
 */
export function writeReport(
  { folder, plots }: { readonly folder: string; readonly plots: string },
  all: readonly Findings[],
  circumstances: Circumstances,
): void {
  for (const made of [folder, plots]) mkdirSync(made, { recursive: true })
  const { machine, command, rounds, runMs, finished } = circumstances
  const sections = all.flatMap(({ title, how, results, bars, curves }) => {
    const pictures: string[] = []
    const draw = (name: string, svg: string) => {
      writeFileSync(join(plots, `${name}.svg`), svg)
      pictures.push(`\n![${title}](${relative(folder, plots)}/${name}.svg)\n`)
    }
    if (bars) draw(title === 'create' ? 'create' : 'throughput', drawBars(bars))
    if (curves) draw('latency', drawCurves(title, curves))
    return [`## ${title}\n`, `${how}\n`, table(results), ...pictures, '']
  })
  const notes = join(import.meta.dirname, 'where-time-goes.md')
  const text = [
    '# Speed\n',
    `Written by \`${command}\` on ${finished.toISOString().slice(0, 10)}. Don't edit it: run it.\n`,
    ...machine.map((line) => `- ${line}`),
    `- ${summary(all)}`,
    `- ${rounds} runs of ${runMs / 1000} s of each case, in turns; figures are medians, in brackets the least and the greatest of all runs`,
    '- a ratio is the median of the ratios of all rounds; "by processor time" is the same ratio in processor time for an event,',
    '  which changes less when something else takes the core\n',
    ...sections,
    existsSync(notes) ? readFileSync(notes, 'utf8').trimEnd() : '',
  ]
  writeFileSync(join(folder, 'RESULTS.md'), `${text.join('\n').trimEnd()}\n`)
}
