// HEALTHCHECK of the image: one of our commands answers on its default port. 9464: --metrics-port; 3500: run; 4431: emulate.
const pages = ['http://127.0.0.1:9464/healthz', 'http://127.0.0.1:3500/v1.0/healthz', 'http://127.0.0.1:4431/']
const answers = pages.map(async (page) => {
  const { ok, status } = await fetch(page, { signal: AbortSignal.timeout(3_000) })
  if (!ok) throw new Error(`${page} answered ${status}`)
})
try {
  await Promise.any(answers)
} catch ({ errors }) {
  console.error(errors.map(({ message, cause }) => cause?.message ?? message).join('; '))
  process.exitCode = 1
}
