exports.loadWorker = async (options) => (await import("./node-spawn.js")).loadWorker(options);
