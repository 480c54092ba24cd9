import { execFileSync } from 'node:child_process'
import { existsSync, globSync, lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'

/** Most that an installation may bring: packages, mebibytes on the disk, and megabytes in files, as npm counts. */
interface Limits {
  readonly packages: number
  readonly mebibytes?: number
  readonly megabytes?: number
}

export function check(holds: boolean, complaint: string): void {
  if (!holds) throw new Error(complaint)
}

/** An empty project of a user, into which the archive of a package is installed. @param from the folder of the package */
export function openProject(name: string, from: string) {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`))
  const modules = join(folder, 'node_modules')
  const installed = join(modules, name)
  let archive = ''

  /** Runs a program in the user's project. `node`: the folder of the Node that scripts find. */
  function run(command: string, args: readonly string[], { cwd = folder, node = dirname(process.execPath) } = {}) {
    // A registration of OpenTelemetry would ask which cloud this machine is in.
    const quiet = { OTEL_NODE_RESOURCE_DETECTORS: 'none' }
    const env = { ...process.env, ...quiet, PATH: `${node}${delimiter}${process.env.PATH}` }
    return execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  }

  function install(): void {
    const packed = run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: from })
    archive = join(folder, packed.trim().split('\n').at(-1) ?? '')
    writeFileSync(
      join(folder, 'package.json'),
      '{ "private": true, "type": "module", "allowScripts": { "node": true } }',
    )
    run('npm', ['install', '--silent', '--no-audit', archive])
    check(existsSync(join(installed, 'LICENSE')), 'the archive has no LICENSE')
  }

  function weigh(limits: Limits): void {
    const packages = run('npm', ['ls', '--all', '--parseable']).trim().split('\n').length - 1
    const entries = globSync('**', { cwd: modules }).map((path) => lstatSync(join(modules, path)))
    const sum = (sizes: readonly number[]) => sizes.reduce((all, size) => all + size, 0)
    // As du counts: in blocks of the file system, which is where the disk goes.
    const mebibytes = sum(entries.map(({ blocks = 0 }) => blocks * 512)) / 2 ** 20
    const megabytes = sum(entries.map((entry) => (entry.isFile() ? entry.size : 0))) / 1e6
    const disk = `${mebibytes.toFixed(1)} MiB on the disk`
    console.log(`${name}: ${packages} packages, ${megabytes.toFixed(1)} MB in files, ${disk}`)
    check(packages <= limits.packages, `an installation brings over ${limits.packages} packages`)
    const { mebibytes: onDisk = Number.POSITIVE_INFINITY, megabytes: inFiles = Number.POSITIVE_INFINITY } = limits
    check(mebibytes < onDisk, `an installation weighs ${onDisk} MiB or more on the disk`)
    check(megabytes < inFiles, `an installation weighs ${inFiles} MB or more`)
  }

  /** Pages and examples that are packed lead to nothing that only the repository has. */
  function followLinks(): void {
    const isThere = (file: string, path: string) => existsSync(resolve(installed, dirname(file), path))
    for (const page of globSync(['*.md', 'docs/*.md', 'packages/*/docs/*.md'], { cwd: installed })) {
      const prose = readFileSync(join(installed, page), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '')
      const links = prose.matchAll(/\]\((?!https?:|#)([^)#]+)/g)
      const broken = [...links].map(([, path = '']) => path).filter((path) => !isThere(page, path))
      check(broken.length === 0, `${page} links to what is not packed: ${broken.join(', ')}`)
    }
    for (const file of globSync('examples/**/*.{ts,mjs}', { cwd: installed })) {
      const imports = readFileSync(join(installed, file), 'utf8').matchAll(/from '(\.[^']+)'/g)
      const broken = [...imports].map(([, path = '']) => path).filter((path) => !isThere(file, path))
      check(broken.length === 0, `${file} imports what is not packed: ${broken.join(', ')}`)
    }
    console.log('the links and imports of the packed pages and examples lead somewhere')
  }

  /** Compiles a TypeScript user's code, and the declarations of all that it imports. */
  function compile(text: string): void {
    writeFileSync(join(folder, 'typed.ts'), text)
    run('npm', ['install', '--silent', '--no-audit', 'typescript@7', '@types/node@22'])
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--types', 'node']
    const target = ['--module', 'nodenext', '--target', 'es2023']
    run(join(modules, '.bin/tsc'), [...strict, ...target, '--skipLibCheck', 'false', 'typed.ts'])
    console.log('the types compile in a strict project')
  }

  return {
    folder,
    installed,
    bin: join(modules, '.bin', name),
    ...{ run, install, weigh, followLinks, compile },
    /** The path of the archive that `install` packed. */
    archive: () => archive,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
