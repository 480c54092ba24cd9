/**
 * Milliseconds of processor time that this process spends on `work`. Other processes on the machine do not change it,
 * as they change the time on a clock.
 */
export async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
