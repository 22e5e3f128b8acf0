// Boxes of one size fall in piles on a plane, with Bullet: falling_boxes STEPS.
#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

int main(int argc, char** argv) {
  const int steps = argc == 2 ? std::atoi(argv[1]) : 0;
  if (steps <= 0) {
    std::fprintf(stderr, "falling_boxes: expected a number of steps\n");
    return 2;
  }
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broad_phase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broad_phase, &solver, &configuration);
  world.setGravity(btVector3(0, -10, 0));

  btStaticPlaneShape ground_shape(btVector3(0, 1, 0), 0);
  btDefaultMotionState ground_state;
  btRigidBody ground(btRigidBody::btRigidBodyConstructionInfo(0, &ground_state, &ground_shape));
  world.addRigidBody(&ground);

  btBoxShape box(btVector3(1, 1, 1));
  btVector3 inertia;
  box.calculateLocalInertia(2, inertia);
  std::vector<std::unique_ptr<btDefaultMotionState>> states;
  std::vector<std::unique_ptr<btRigidBody>> bodies;
  for (int layer = 0; layer < 47; ++layer) {
    for (int row = 0; row < 8; ++row) {
      for (int column = 0; column < 8; ++column) {
        // Each layer stands a little beside the one below: the towers fall over.
        const btVector3 at(btScalar(3 * row + 0.1 * layer), btScalar(3 * layer + 2),
                           btScalar(3 * column + 0.07 * layer));
        states.push_back(std::make_unique<btDefaultMotionState>(btTransform(btQuaternion::getIdentity(), at)));
        bodies.push_back(std::make_unique<btRigidBody>(
            btRigidBody::btRigidBodyConstructionInfo(2, states.back().get(), &box, inertia)));
        world.addRigidBody(bodies.back().get());
      }
    }
  }
  for (int i = 0; i < steps; ++i) world.stepSimulation(btScalar(1.0 / 60), 0);

  double height = 0;
  for (const auto& body : bodies) {
    height += body->getCenterOfMassPosition().y();
    world.removeRigidBody(body.get());
  }
  world.removeRigidBody(&ground);
  height /= static_cast<double>(bodies.size());
  std::printf("%zu boxes, mean height %.3f\n", bodies.size(), height);
  return std::isfinite(height) && height > 0.5 && height < 71 ? 0 : 1;
}
