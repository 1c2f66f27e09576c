// Loaded before the program: simulates a defect by an uncaught exception while it runs.
process.on('SIGUSR2', () => {
  setImmediate(() => {
    throw new Error('a played defect')
  })
})
process.on('SIGWINCH', () => {
  void Promise.reject(new Error('a played rejection'))
})
