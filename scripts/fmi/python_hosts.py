"""Python scripts that run an FMU in hosts with a Python interface, in a Python process of their
own; they print the last values of a run.
"""

LIBCOSIM = """
import json, sys
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimObserver import CosimObserver
from libcosimpy.CosimSlave import CosimLocalSlave
path, step, count, references = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4])
execution = CosimExecution.from_step_size(round(step * 1e9))
slave = execution.add_local_slave(CosimLocalSlave(fmu_path=path, instance_name="slave"))
observer = CosimObserver.create_last_value()
execution.add_observer(observer)
for _ in range(count):
    assert execution.step()
print("RESULT", json.dumps(list(observer.last_real_values(slave, references))))
"""
ECOS = """
import json, sys
from ecospy import EcosSimulation, EcosSimulationStructure
path, step, count, names = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4])
structure = EcosSimulationStructure()
structure.add_model("slave", path)
simulation = EcosSimulation(step, structure=structure)
simulation.init()
simulation.step(count)
print("RESULT", json.dumps([simulation.get_real("slave::" + name) for name in names]), flush=True)
simulation.terminate()
simulation.free()
"""
