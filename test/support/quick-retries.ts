/**
 * Pauses of the emulator between two tries, in milliseconds: short at first, so that a test is quick. All of its 30 tries
 * take 13 seconds, so that a host which starts or changes on a busy machine loses no event.
 */
export const quickRetries: readonly number[] = [...Array(12).fill(5), 20, 50, 100, 200, 500, 1_000]
