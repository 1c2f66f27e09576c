// Loaded before the program: plays a defect that shows up in the middle of work.
process.on('SIGUSR2', () => {
  setImmediate(() => {
    throw new Error('a played defect')
  })
})
process.on('SIGWINCH', () => {
  void Promise.reject(new Error('a played rejection'))
})
