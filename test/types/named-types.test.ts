/** Whoever compiles with `declaration: true` can export whatever our doors give: every type in it has a name that the doors export. */
import { execFile } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { Project, ts } from 'ts-morph'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.ts'

const root = resolve(import.meta.dirname, '../..')

const doors = {
  'eventgrid-binding': 'src/index.ts',
  'eventgrid-binding/emulator': 'packages/emulator/src/index.ts',
}

/** Exports of an inferred type, one for each export of a door and each member of its classes and interfaces. */
function inferredExports(door: string, file: string): readonly string[] {
  const project = new Project({ tsConfigFilePath: join(root, 'tsconfig.json'), skipAddingFilesFromTsConfig: true })
  const exported = project.addSourceFileAtPath(join(root, file)).getExportedDeclarations()
  return [...exported].flatMap(([name, declarations]) => {
    const [declaration] = declarations
    // A constant that is a type too is a class.
    const isValue = declarations.every(
      (one) => one.isKind(ts.SyntaxKind.VariableDeclaration) || one.isKind(ts.SyntaxKind.FunctionDeclaration),
    )
    const isRecord =
      declaration?.isKind(ts.SyntaxKind.InterfaceDeclaration) || declaration?.isKind(ts.SyntaxKind.ClassDeclaration)
    const members =
      isRecord && declaration.getTypeParameters().length === 0 ? declaration.getType().getProperties() : []
    const named = members.map((one) => one.getName()).filter((one) => /^[a-z]\w*$/i.test(one))
    return [
      `import ${isValue ? '' : 'type '}{ ${name} } from '${door}'`,
      ...(isValue ? [`export const all_${name} = ${name}`] : []),
      ...named.map((member) => `export const ${name}_${member} = (it: ${name}) => it.${member}`),
    ]
  })
}

it('gives no type without a name to who compiles with declarations', async () => {
  const outer = temporaryFolder()
  const folder = join(outer, 'app')
  const installed = join(folder, 'node_modules/eventgrid-binding')
  await mkdir(installed, { recursive: true })
  // As npm installs them: its dependencies lie beside the package.
  await symlink(join(root, 'node_modules'), join(outer, 'node_modules'))
  for (const one of ['dist', 'package.json']) await symlink(join(root, one), join(installed, one))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  const files = await Promise.all(
    Object.entries(doors).map(async ([door, source], index) => {
      const file = join(folder, `door-${index}.ts`)
      await writeFile(file, inferredExports(door, source).join('\n'))
      return file
    }),
  )
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const options = [
    '--declaration',
    '--emitDeclarationOnly',
    '--strict',
    '--skipLibCheck',
    '--preserveSymlinks',
    '--ignoreConfig',
  ]
  const target = [
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--typeRoots',
    join(root, 'node_modules/@types'),
    '--types',
    'node',
    '--outDir',
    join(folder, 'out'),
  ]
  const failed = (failure: { stdout: string }) => failure
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, ...options, ...target, ...files], {
    cwd: folder,
  }).catch(failed)
  expect(stdout).toBe('')
}, 120_000)
