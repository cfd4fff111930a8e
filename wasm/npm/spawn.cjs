exports.loadWorker = async (options) => (await import("./spawn.js")).loadWorker(options);
