// The workflows pin every action by digest, and whoever may write something runs no code of a package.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'

const folder = resolve(import.meta.dirname, '../.github/workflows')

const permissions = z.union([z.string(), z.record(z.string(), z.string())])
const environment = z.record(z.string(), z.unknown())
const step = z.looseObject({
  uses: z.string().optional(),
  run: z.string().optional(),
  env: environment.optional(),
  with: environment.optional(),
})
const job = z.looseObject({
  uses: z.string().optional(),
  secrets: z.unknown().optional(),
  permissions: permissions.optional(),
  env: environment.optional(),
  steps: z.array(step).default([]),
})
const workflow = z.looseObject({ permissions, env: environment.optional(), jobs: z.record(z.string(), job) })

/** Tools that run what a package holds: its install scripts, its build, its tests. `npm publish` does so without `--ignore-scripts`. */
const runsPackages =
  /\b(?:npm(?! publish)|npx|pnpm|yarn|bun|node|pip|python3?|go|make|docker|mvn|sh|bash|\.ci\/run)\s|\.\/(?!release\/|\$)/
const hasToken = (env: object = {}) => /secrets|github\.token|ACTIONS_ID_TOKEN/i.test(JSON.stringify(env))
const mayWrite = (given: z.infer<typeof permissions>) => /write/.test(JSON.stringify(given))

/** What is not safe in a workflow, a line each. */
function findFaults(text: string): readonly string[] {
  const { jobs, env, permissions: general } = workflow.parse(parse(text))
  const used = Object.values(jobs).flatMap(({ uses, steps }) => [uses, ...steps.map((one) => one.uses)])
  const unpinned = used
    .filter((action) => action !== undefined)
    .filter(
      (action) => !/@[0-9a-f]{40}$/.test(action) || !new RegExp(`${action} # v\\d+\\.\\d+\\.\\d+$`, 'm').test(text),
    )
    .map((action) => `${action} is not pinned by a digest with its version behind`)
  const faults = Object.entries(jobs).flatMap(([name, { steps, ...rest }]) => {
    const writes = mayWrite(rest.permissions ?? general)
    return [
      ...(hasToken(rest.env) || rest.secrets ? [`${name}: every step has a token in its environment`] : []),
      ...steps.flatMap(({ uses = '', run = '', env: own, with: given }) => [
        ...(runsPackages.test(`${run} `) && (writes || hasToken({ own, run }))
          ? [`${name}: runs packages with rights: ${run}`]
          : []),
        ...(/\bnpm publish\b/.test(run) && !run.includes('--ignore-scripts')
          ? [`${name}: publishes with scripts`]
          : []),
        ...(uses.startsWith('actions/checkout@') && given?.['persist-credentials'] !== false
          ? [`${name}: leaves its token in .git/config`]
          : []),
      ]),
    ]
  })
  return [...unpinned, ...(mayWrite(general) || hasToken(env) ? ['every job has rights'] : []), ...faults]
}

it.each(readdirSync(folder))('%s pins its actions, and gives no right to who installs or builds', (file) => {
  expect(findFaults(readFileSync(join(folder, file), 'utf8'))).toEqual([])
})

const checkout = 'actions/checkout@fbc6f3992d24b796d5a048ff273f7fcc4a7b6c09 # v5.1.0'
const write = 'permissions: { contents: write }'

it.each([
  { name: 'a tag', job: 'steps: [{ uses: actions/cache@v4 }]', fault: /not pinned/ },
  { name: 'a digest without its version', job: `steps:\n      - uses: a/b@${'0'.repeat(40)}`, fault: /not pinned/ },
  { name: 'a workflow of another repository', job: 'uses: a/b/.github/workflows/c.yml@main', fault: /not pinned/ },
  { name: 'an image by its tag', job: 'steps:\n      - uses: docker://alpine:3', fault: /not pinned/ },
  {
    name: 'a token where packages are installed',
    job: `steps: [{ run: npm ci, env: { A: "\${{ secrets.A }}" } }]`,
    fault: /rights/,
  },
  {
    name: "the workflow's own token",
    job: `steps: [{ run: npm test, env: { A: "\${{ github.token }}" } }]`,
    fault: /rights/,
  },
  {
    name: 'a token of all steps',
    job: `env: { A: "\${{ secrets.A }}" }\n    steps: [{ run: ls }]`,
    fault: /every step/,
  },
  { name: 'all secrets handed on', job: `secrets: inherit\n    uses: ${checkout}`, fault: /every step/ },
  {
    name: 'a build with the right to write',
    job: `${write}\n    steps: [{ run: 'cd a && npm run build' }]`,
    fault: /rights/,
  },
  { name: 'a script of the repository', job: `${write}\n    steps: [{ run: ./release.sh }]`, fault: /rights/ },
  { name: 'publishing with scripts', job: 'steps: [{ run: npm publish }]', fault: /with scripts/ },
  { name: 'a checkout that leaves its token', job: `steps:\n      - uses: ${checkout}`, fault: /\.git\/config/ },
])('finds $name', ({ job, fault }) => {
  expect(findFaults(`permissions: {}\njobs:\n  a:\n    ${job}\n`)).toEqual([expect.stringMatching(fault)])
})

it('finds rights that all jobs have', () => {
  expect(findFaults('permissions: write-all\njobs: {}\n')).toEqual(['every job has rights'])
  expect(findFaults(`permissions: {}\nenv: { A: "\${{ secrets.A }}" }\njobs: {}\n`)).toEqual(['every job has rights'])
})
