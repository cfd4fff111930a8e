// One implementation for both module systems: two would be two caches and two sets of types.
exports.load = async (options) => (await import("./index.js")).load(options);
